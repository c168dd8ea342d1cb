#!/bin/sh
# Slurm's HealthCheckProgram: looks at the node's last result every few minutes. In slurm.conf:
#   HealthCheckProgram=/etc/slurm/wireproof-healthcheck.sh
#   HealthCheckInterval=300
#   HealthCheckNodeState=IDLE,CYCLE
#
# slurmd ignores the status. By Slurm's manual it kills the program after 60 s; the bounds below are
# shorter. Whether a node is drained is decided here, by the site, and never by wireproof:
#   DRAIN=""                   only a line in the log (syslog, tag wireproof)
#   DRAIN="fail"               a node that is proven bad
#   DRAIN="fail undecided"     also one without a fresh pass: when the daily check does not run,
#                              the whole cluster is drained
# A node is never resumed here.
DRAIN=""
RESULTS=/var/spool/wireproof
WIREPROOF=/opt/wireproof/bin/wireproof

# slurmd runs this as root, without PATH, on all nodes at once.
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
case $(sinfo --noheader --nodes="$node" --format=%T 2>/dev/null) in
*drain* | *down* | *maint*) exit 0 ;; # another reason is set already: it stays
esac
for one in $DRAIN; do
    if [ "$one" = "$found" ]; then
        scontrol update NodeName="$node" State=DRAIN Reason="$line"
    fi
done
exit 0
