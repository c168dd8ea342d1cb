#!/bin/sh
# Runs make targets of a clean clone in a bare Debian 12 that has make and nothing else. Root only.
#   tests/packaging/fresh.sh TARGET...
# The root is made by debootstrap in a folder of its own under /tmp, entered in private mount and pid namespaces, and
# removed at the end: no mount and no process outlives this script. Package sources, proxies and pip's configuration are
# the machine's own. First it is checked that without root the missing packages are named, and nothing else happens.
set -eu

say() { printf 'fresh: %s\n' "$*" >&2; }

# Debian's package sources as this machine's apt knows them, one "URI suite" per line.
debian_sources() {
    # shellcheck disable=SC2016  # apt's own placeholders
    apt-get indextargets --format '$(ORIGIN) $(REPO_URI) $(RELEASE) $(COMPONENT)' 2>/dev/null \
        | awk '$1 == "Debian" && $3 ~ /^bookworm/ && $4 == "main" { print $2, $3 }' | sort -u
}

make_root() {
    mirror="$(debian_sources | awk '$2 == "bookworm" { print $1; exit }')"
    say "debootstrap of Debian 12 into $root"
    # shellcheck disable=SC2086  # no mirror known: no argument, debootstrap then uses its own
    debootstrap --variant=minbase --include=make bookworm "$root" $mirror >"$root.log" 2>&1 \
        || { tail -n 20 "$root.log" >&2; exit 4; }
    debian_sources | sed 's/^/deb /; s/$/ main/' >"$root/sources"
    if [ -s "$root/sources" ]; then mv "$root/sources" "$root/etc/apt/sources.list"; else rm "$root/sources"; fi
    apt-config dump | grep -E '^Acquire::(http|https)::' >"$root/etc/apt/apt.conf.d/90machine" || true
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
    if [ -f /etc/pip.conf ]; then cp -L /etc/pip.conf "$root/etc/"; fi
    if [ -d /usr/local/share/ca-certificates ]; then cp -R /usr/local/share/ca-certificates "$root/usr/local/share/"; fi
    git clone -q --no-hardlinks "$tree" "$root/wireproof"
}

# In new mount and pid namespaces: make $root the file system, then run the rest as its only program.
enter() {
    root="$1"
    shift
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount -t sysfs sysfs "$root/sys"
    mount -t tmpfs -o mode=0755 tmpfs "$root/run"
    mkdir -p "$root/dev/pts" "$root/dev/shm" "$root/run/lock"
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
    mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
    cd "$root"
    pivot_root . mnt
    cd /wireproof
    umount -l /mnt
    exec "$@"
}

# Runs its arguments inside, with a clean environment but for proxies and pip's settings.
inside() {
    set -- HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
    for name in $(env | grep -v '^PIP_FIND_LINKS=' | sed -n 's/^\(PIP_[A-Z_]*\|[A-Za-z]*_proxy\|[A-Z]*_PROXY\)=.*/\1/p'); do
        set -- "$name=$(printenv "$name")" "$@"
    done
    unshare --mount --pid --fork --kill-child "$self" --enter "$root" env -i "$@" </dev/null
}

refuses_without_root() {
    chown -R 65534:65534 "$root/wireproof"
    if inside setpriv --reuid 65534 --regid 65534 --clear-groups make demo >"$root.log" 2>&1; then
        say "make demo succeeded without root and without its packages"
        exit 1
    fi
    for package in g++ python3-venv iproute2; do
        grep -q "apt-get install -y.* $package" "$root.log" || { cat "$root.log"; say "did not name $package"; exit 1; }
    done
    if [ -n "$(git -C "$root/wireproof" -c safe.directory='*' status --porcelain --ignored)" ]; then
        say "changed the tree though it could not go on"
        exit 1
    fi
    chown -R 0:0 "$root/wireproof"
    say "without root: the missing packages are named and nothing was changed"
}

self="$(readlink -f "$0")"
if [ "${1:-}" = --enter ]; then
    shift
    enter "$@"
fi
[ "$(id -u)" = 0 ] || { say "needs root (debootstrap, namespaces): run it as root"; exit 2; }
[ $# -gt 0 ] || { say "usage: tests/packaging/fresh.sh TARGET..."; exit 2; }
tree="$(git -C "$(dirname "$self")" rev-parse --show-toplevel)"
root="$(mktemp -d /tmp/wireproof-fresh.XXXXXX)"
trap 'rm -rf --one-file-system "$root" "$root.log"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$root"
make_root
refuses_without_root
for target; do
    start="$(date +%s)"
    inside make "$target"
    say "make $target: $(($(date +%s) - start)) s"
done
say "passed: $*"
