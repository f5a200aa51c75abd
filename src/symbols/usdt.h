/* The marks that a program's authors have put into its code (USDT): the notes of an ELF file that say where each is, what it is called
 * and where its arguments lie. One name may stand at several places.
 */
#ifndef STRATA_SYMBOLS_USDT_H
#define STRATA_SYMBOLS_USDT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "schema/functions.h"

struct usdt_probe {
	char *name;	 /* PROVIDER:NAME */
	char *arguments; /* as the note has them */
	uint64_t offset; /* in the file */
	uint64_t
		semaphore; /* likewise: the word that tells the program that somebody looks; 0: none */
	struct usdt_source sources[USDT_ARGUMENTS];
};

/* Reads all of a file that is open; `probes`: struct usdt_probe each. None is no failure. */
int usdt_read(struct buf *probes, int fd, struct error *e);
void usdt_free(struct buf *probes);

/* One text of arguments, such as "-4@%eax 8@-16(%rbp)". Those that are not understood say nothing. */
void usdt_parse_arguments(const char *text, struct usdt_source sources[USDT_ARGUMENTS]);

#endif
