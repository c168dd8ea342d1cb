#!/bin/sh
# Settings of two lab nodes: planned, applied, looked at, and back byte for byte.
# Usage: examples/tune/in-the-lab.sh   (wireproof on PATH)
set -u
here=$(cd "$(dirname "$0")" && pwd)
name=tune-example
wireproof lab up "$here/../lab/two-nodes-1g.toml" --name "$name" || exit
trap 'wireproof lab down "$name"' EXIT
on="--lab $name"
sack=/proc/sys/net/ipv4/tcp_sack
wireproof lab exec "$name" n1 sh -c "echo 0 > $sack"

echo "== what would be changed"
wireproof tune plan tcp-sack $on
echo "== changed, with a value of our own for the queue of one interface"
wireproof tune apply tcp-sack tx-queue-length/hsn0=500 $on --yes
wireproof tune status $on
echo "== and back"
wireproof tune revert $on
echo "exit status $?, tcp_sack of n1 is $(wireproof lab exec "$name" n1 cat $sack)"
