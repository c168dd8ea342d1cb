#!/bin/sh
case $1 in
hang*) echo $$ > "$0.pid"; exec sleep 61;;
refuse*) echo "ssh: connect to host $1 port 22: Connection refused" >&2; exit 255;;
loud*) yes "a line that is repeated" | head -n 3000; yes noise | head -n 3000 >&2; exit 0;;
binary*) head -c 100000 /dev/urandom; exit 1;;
env*) echo "$WORD"; exit 0;;
esac
host=$1; shift
eval "$*"
