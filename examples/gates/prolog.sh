#!/bin/sh
# Slurm prolog: looks at the last result of the node before each job. In slurm.conf:
#   Prolog=/etc/slurm/prolog.d/wireproof.sh
#   PrologFlags=Alloc          # at the start of the job, not of its first step
#   PrologEpilogTimeout=60     # Slurm itself sets no limit
#
# A prolog that ends with another status than 0 DRAINS the node, and Slurm requeues and holds the job
# (SchedulerParameters=nohold_on_prolog_fail: it starts elsewhere). Therefore nothing is refused until the
# site says so here:
#   REFUSE=""                  only a line in the log (syslog, tag wireproof)
#   REFUSE="fail"              a node that is proven bad starts no job
#   REFUSE="fail undecided"    nor does one without a fresh pass: when the daily check does not run,
#                              every node that a job starts on is drained
REFUSE=""
RESULTS=/var/spool/wireproof
WIREPROOF=/opt/wireproof/bin/wireproof

# slurmd runs this as root, without PATH, on all nodes of the job at once.
PATH=/usr/bin:/bin
export PATH
node=${SLURMD_NODENAME:-$(hostname -s)}
line=$(timeout -k 2 30 \
    "$WIREPROOF" gate "$RESULTS" --node "$node" --max-age 24h --within 20s 2>/dev/null)
status=$?
case "$status $line" in
"0 wireproof pass: "*) exit 0 ;;
"1 wireproof fail: "*) found=fail ;;
*) found=undecided line=${line:-"no answer from $WIREPROOF (status $status)"} ;;
esac
logger -t wireproof -- "$line" 2>/dev/null
for one in $REFUSE; do
    if [ "$one" = "$found" ]; then
        echo "$line" >&2
        exit 1
    fi
done
exit 0
