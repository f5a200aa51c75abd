#!/bin/sh
# Slurm epilog (Epilog= or TaskEpilog=): pushes what the job recorded on this node into ClickHouse, under the job's id.
# Recordings lie in $STRATA_RUNS (default /var/tmp/strata/JOB); the server is in $STRATA_TO. Records each task with:
#     srun strata record -q -o /var/tmp/strata/$SLURM_JOB_ID/rank$SLURM_PROCID.strata -- python train.py
runs=${STRATA_RUNS:-/var/tmp/strata/$SLURM_JOB_ID}
[ -n "$STRATA_TO" ] && [ -d "$runs" ] || exit 0
exec strata push -q --to "$STRATA_TO" --job "$SLURM_JOB_ID" "$runs"/*.strata
