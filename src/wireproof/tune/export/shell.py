"""A shell script that sets the values and can undo them: it keeps the old ones. Pure."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterator, Sequence

from wireproof.model.change import Change
from wireproof.model.tuning import HostPlan
from wireproof.tune.export.comments import head, left_out

__all__ = ["shell"]

_BEGIN = r"""# Usage: sh FILE apply|undo. Old values are kept in $OLD until they are undone.
set -u
OLD=${OLD:-/var/lib/wireproof/exported/@}
failed=0

# The first word behind KEY, below the line that begins with SECTION.
value() { # SECTION KEY COMMAND...
  section=$1 key=$2
  shift 2
  "$@" | awk -v s="$section" -v k="$key" '
    { line = $0; sub(/^[ \t]+/, "", line) }
    s != "" && !below { if (index(line, s) == 1) below = 1; next }
    index(line, k) == 1 && substr(line, length(k) + 1, 1) ~ /[:= \t]/ {
      rest = substr(line, length(k) + 1); sub(/^[ \t]*[:=]?[ \t]*/, "", rest)
      split(rest, word, " "); print word[1]; exit
    }'
}
chosen() { sed -n 's/.*\[\([^]]*\)\].*/\1/p' "$1"; }
keep_file() { # NUMBER PATH
  [ -e "$OLD/$1" ] || [ -e "$OLD/$1.none" ] && return 0
  if [ -e "$2" ]; then cat "$2" > "$OLD/$1.new" && mv "$OLD/$1.new" "$OLD/$1"
  else : > "$OLD/$1.none"; fi
}
keep_value() { # NUMBER SECTION KEY COMMAND...
  number=$1
  shift
  [ -e "$OLD/$number" ] && return 0
  value "$@" > "$OLD/$number.new"
  [ -s "$OLD/$number.new" ] && mv "$OLD/$number.new" "$OLD/$number"
}
write() { printf '%s\n' "$2" > "$1" || { echo "not written: $1" >&2; failed=1; }; }
run() { "$@" || { echo "failed: $*" >&2; failed=1; }; }
"""
_END = r"""
case ${1:-} in
  apply) umask 077 && mkdir -p "$OLD" && apply ;;
  undo) [ -d "$OLD" ] || { echo "nothing to undo: no $OLD" >&2; exit 1; }; undo ;;
  *) echo "usage: sh $0 apply|undo" >&2; exit 2 ;;
esac || exit 1
exit $failed"""


def shell(plan: HostPlan, hosts: Sequence[str], profile: str) -> str:
    """POSIX sh. Every word of the plan is quoted by shlex."""
    steps = list(_steps(plan))
    begin = _BEGIN.replace("@", _name_of(steps), 1)
    lines = ["#!/bin/sh", head(hosts, profile), *left_out(plan), begin]
    lines += ["apply() {", *(f"  {line}" for step in steps for line in step[0]), "}", ""]
    undo = [line for step in reversed(steps) for line in step[1]]
    lines += ["undo() {", *(f"  {line}" for line in undo), "}"]
    return "\n".join([*lines, _END, ""])


def _name_of(steps: Sequence[tuple[list[str], list[str]]]) -> str:
    """Of the folder with the old values: another script's must not be taken for them."""
    return hashlib.sha256(repr(steps).encode()).hexdigest()[:12]


def _steps(plan: HostPlan) -> Iterator[tuple[list[str], list[str]]]:
    """The lines that apply each change, and those that undo it."""
    number = 0
    for each in plan.changes:
        one = each.change
        for path in one.coupled:
            yield _coupled(number, path)
            number += 1
        yield _file(number, one) if one.kind == "file" else _command(number, one)
        number += 1
    for keep in plan.keeps:
        yield _drop_in(number, keep.keep.path, keep.keep.text)
        number += 1


def _file(number: int, one: Change) -> tuple[list[str], list[str]]:
    path, old = shlex.quote(one.path), f'"$OLD/{number}"'
    back = f"chosen {old}" if one.form == "choice" else f"cat {old}"
    do = [f"keep_file {number} {path} && write {path} {shlex.quote(one.value)}"]
    return do, [f"[ ! -e {old} ] || {{ {back} > {path} && rm {old}; }} || failed=1"]


def _coupled(number: int, path: str) -> tuple[list[str], list[str]]:
    """Kept before its partner is written. Undone after it, where it is still another; a refusal is
    no failure: the kernel takes no 0 for what the partner's write has brought back.
    """
    name, old = shlex.quote(path), f'"$OLD/{number}"'
    undo = f"[ ! -e {old} ] || cmp -s {old} {name} || cat {old} > {name}"
    return [f"keep_file {number} {name}"], [f"{{ {undo}; }} 2> /dev/null; rm -f {old}"]


def _command(number: int, one: Change) -> tuple[list[str], list[str]]:
    read = shlex.join([one.section, one.key, *one.read])
    write = shlex.join(word.replace("{value}", one.value) for word in one.write)
    old = f'"$OLD/{number}"'
    words = [f'"$(cat {old})"' if word == "{value}" else shlex.quote(word) for word in one.write]
    do = [f"keep_value {number} {read} && run {write}"]
    return do, [f"[ ! -e {old} ] || {{ {' '.join(words)} && rm {old}; }} || failed=1"]


def _drop_in(number: int, path: str, text: str) -> tuple[list[str], list[str]]:
    name, old = shlex.quote(path), f'"$OLD/{number}"'
    body = shlex.quote(text.removesuffix("\n"))
    do = [f"keep_file {number} {name} && (umask 022; write {name} {body})"]
    undo = [
        f"[ ! -e {old} ] || {{ cat {old} > {name} && rm {old}; }} || failed=1",
        f'[ ! -e "$OLD/{number}.none" ] || rm -f {name} "$OLD/{number}.none" || failed=1',
    ]
    return do, undo
