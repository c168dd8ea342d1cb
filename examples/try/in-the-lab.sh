#!/bin/sh
# A setting that helps and one that does nothing, over a wire. Ends what it has started.
# Usage: examples/try/in-the-lab.sh   (wireproof on PATH)
set -u
here=$(cd "$(dirname "$0")" && pwd)
name=try-example
wireproof lab up "$here/../lab/two-nodes-1g.toml" --name "$name" || exit
trap 'wireproof lab down "$name"' EXIT

metric="--metric rate:\s([0-9.]+) --better higher"
echo "== a sender paced at 100 MB/s, and at 110: exit status 0"
wireproof tune try PACE_MB_S=100,110 --lab "$name" --server n2 "python3 $here/stream.py serve" \
  $metric \
  -- python3 "$here/stream.py" send n2
echo "exit status $?"

echo "== a variable that the program does not read: exit status 1"
wireproof tune try PLACEBO=1,2 --lab "$name" --server n2 "python3 $here/stream.py serve" $metric \
  -- python3 "$here/stream.py" send n2
echo "exit status $?"
