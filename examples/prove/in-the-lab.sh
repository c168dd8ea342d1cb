#!/bin/sh
# One number over a wire and one through loopback, told apart by the ports. Needs iperf3; ends what it has started.
# Usage: examples/prove/in-the-lab.sh   (wireproof on PATH)
set -u
here=$(cd "$(dirname "$0")" && pwd)
name=prove-example
wireproof lab up "$here/../lab/two-nodes-1g.toml" --name "$name" || exit
trap 'wireproof lab down "$name"' EXIT

echo "== n1 to n2, over the wire: exit status 0"
wireproof prove --strict --lab "$name" --server n2 "iperf3 -s" -- iperf3 -c n2 -t 2
echo "exit status $?"

echo "== n1 to n1, through loopback: exit status 1"
wireproof prove --strict --lab "$name" --server n1 "iperf3 -s" -- iperf3 -c n1 -t 2
echo "exit status $?"
