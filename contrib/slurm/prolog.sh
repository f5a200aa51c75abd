#!/bin/sh
# Slurm prolog (Prolog=): a folder of the job's user for the recordings of this node.
[ -n "$SLURM_JOB_ID" ] && [ -n "$SLURM_JOB_UID" ] || exit 0
install -d -m 1777 /var/tmp/strata
install -d -m 700 -o "$SLURM_JOB_UID" "/var/tmp/strata/$SLURM_JOB_ID"
