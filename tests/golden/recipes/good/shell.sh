#!/bin/bash -eu
# Comments may say anything: “quotes”, –dashes, I_MPI_PROCESSOR_LIST, mpirun -genv …
set -o pipefail
readonly here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
text="it’s a “quoted” text – with a dash"
printf '%s\n' "$text"; echo 'a –b c'
awk -F, '
    { if ($1 == "x") n++ }
    END { print n " –c" }
' data.csv | sort -n > out.txt
cat <<'EOT' > notes.txt
mpirun -n 2 -N 1 -mca btl self,tcp
~/bin/osu_put_bw –x
EOT
case "$1" in
    -h|--help) echo "usage: $0 [-n N]" ;;
    *) shift ;;
esac
function run() { local host=$1; ssh -o BatchMode=yes "$host" "cat /proc/cpuinfo" | grep -c processor; }
find . -name '*.out' \( -size +1M -o -mtime +3 \) -exec gzip {} \;
while read -r line; do [[ $line =~ ^# ]] && continue; run "$line"; done < hosts
x=$(( 1 << 3 )); y=${x:-4}
taskset -c 0-3 numactl --cpunodebind=0 --membind=0 ./stream
if ls /sys/class/infiniband >/dev/null 2>&1; then ibstat; else echo none; fi
PATH=$PATH:/opt/x/bin LD_LIBRARY_PATH=/opt/x/lib prog --flag=value &
wait $!
