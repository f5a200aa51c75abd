/* System calls that are counted: what tally.bpf.c and its probe share. */
#ifndef STRATA_BPF_TALLY_H
#define STRATA_BPF_TALLY_H

#define TALLY_NUMBERS 512
#define TALLY_CALL    0x0fff /* enum syscall; 0: not counted */
#define TALLY_BYTES   0x8000 /* what it returns is a number of bytes */

#endif
