#!/bin/sh
# Slurm prolog: a job starts on a node only when the node's fabric was proven in the last day.
# Prolog=/etc/slurm/prolog.d/wireproof.sh in slurm.conf. slurmd sets no PATH and runs this as root
# on all nodes of a job at once; a status other than 0 drains the node and requeues the job. If that is
# not what the site wants, print the line and `exit 0`.
exec /usr/bin/env -i PATH=/usr/bin:/bin \
  /opt/wireproof/bin/wireproof gate /var/spool/wireproof --node here \
  --max-age 24h --within 20s --dialect slurm
