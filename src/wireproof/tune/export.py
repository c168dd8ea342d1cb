# pure
"""Write a plan as a file for other tools. Pure.

Each form covers hosts with the same plan. Settings that a form cannot express become comments.
"""

import hashlib
import json
import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from wireproof.audit.remedy import sysctl_name
from wireproof.model.errors import BadInput
from wireproof.model.quantity import first_few
from wireproof.model.tuning import Change, HostPlan, Keep


def comment(text: str) -> str:
    """Return a single-line comment; characters that could break the line are replaced."""
    return "# " + "".join(letter if letter.isprintable() else "?" for letter in text)


def head(hosts: Sequence[str], profile: str) -> str:
    return comment(f"wireproof tune: settings for {profile} of {first_few(hosts, 8)}")


def left_out(plan: HostPlan, changes: Iterable[Change] = ()) -> list[str]:
    """Return comments for manual steps and for changes that the form cannot express."""
    lines = [comment(f"not possible in this form: {item.id} = {item.value}") for item in changes]
    lines += [
        comment(f"not in this form: {item.id}: {item.display} = {item.wanted}, by its BMC")
        for item in plan.firmware
    ]
    return lines + [comment(f"by hand: {item.id}: {item.how}") for item in plan.by_hand]


_OPTIONS = {"-K": "features", "-C": "coalesce", "-A": "pause", "-G": "ring", "-L": "channels"}
"""Map ethtool's options to those of tuned's plugin net."""


def tuned(plan: HostPlan, hosts: Sequence[str], profile: str) -> str:
    """Return the text for /etc/tuned/profiles/wireproof/tuned.conf."""
    changes = [change.change for change in plan.changes]
    others = [change for change in changes if _is_other(change)]
    lines = [head(hosts, profile), *left_out(plan, others)]
    lines += ["", "[main]", f"summary=Settings for {profile} by wireproof"]
    mine = [change for change in changes if change not in others]
    return "\n".join([*lines, *_sections(mine), ""])


def _is_other(change: Change) -> bool:
    """Return whether tuned cannot express the change. tuned would expand ``${`` in a value as a
    variable or a function, which can run commands.
    """
    return "${" in change.value or (change.kind != "file" and _net(change) is None)


def _sections(changes: Sequence[Change]) -> Iterator[str]:
    files = [change for change in changes if change.kind == "file"]
    for name, prefix in (("sysctl", "/proc/sys/"), ("sysfs", "/sys/")):
        mine = [change for change in files if change.path.startswith(prefix)]
        if mine:
            yield from ("", f"[{name}]")
        for change in mine:
            key = sysctl_name(change.path) if name == "sysctl" else change.path
            yield f"{key}={change.value}"
    yield from _nets(changes)


def _nets(changes: Sequence[Change]) -> Iterator[str]:
    nets: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for change in changes:
        net = _net(change)
        if net is not None:
            nic, option, words = net
            nets[nic][option].append(words)
    for nic, options in nets.items():
        yield from ("", f"[net_{nic}]", "type=net", f"devices={nic}")
        for option, parts in options.items():
            yield f"{option}={' '.join(parts)}"


def _net(change: Change) -> tuple[str, str, str] | None:
    """Return (interface, option of the plugin, its words), or None."""
    if change.kind == "file" or change.write[:1] != ("ethtool",) or change.write[1] not in _OPTIONS:
        return None
    words = " ".join(word.replace("{value}", change.value) for word in change.write[3:])
    return change.write[2], _OPTIONS[change.write[1]], words


def tmpfiles(plan: HostPlan, hosts: Sequence[str], profile: str) -> str:
    """Return lines ``w PATH - - - - VALUE``; percent signs are doubled."""
    changes = [change.change for change in plan.changes]
    lines = [
        f"w {_escaped(change.path)} - - - - {_escaped(change.value)}"
        for change in changes
        if change.kind == "file"
    ]
    others = [change for change in changes if change.kind != "file"]
    return "\n".join([head(hosts, profile), *lines, *left_out(plan, others), ""])


def _escaped(text: str) -> str:
    return text.replace("%", "%%").replace("\\", "\\\\")


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
    """Return a POSIX shell script. Every word of the plan is quoted by shlex."""
    steps = list(_steps(plan))
    folder = hashlib.sha256(repr(steps).encode()).hexdigest()[:12]  # another for each script
    begin = _BEGIN.replace("@", folder, 1)
    lines = ["#!/bin/sh", head(hosts, profile), *left_out(plan), begin]
    lines += ["apply() {", *(f"  {line}" for step in steps for line in step[0]), "}", ""]
    undo = [line for step in reversed(steps) for line in step[1]]
    lines += ["undo() {", *(f"  {line}" for line in undo), "}"]
    return "\n".join([*lines, _END, ""])


def _steps(plan: HostPlan) -> Iterator[tuple[list[str], list[str]]]:
    """Yield (lines that apply a change, lines that undo it)."""
    number = 0
    for planned in plan.changes:
        change = planned.change
        for path in change.coupled:
            yield _coupled(number, path)
            number += 1
        yield _file_step(number, change) if change.kind == "file" else _command_step(number, change)
        number += 1
    for keep in plan.keeps:
        yield _drop_in(number, keep.keep.path, keep.keep.text)
        number += 1


def _file_step(number: int, change: Change) -> tuple[list[str], list[str]]:
    path, old = shlex.quote(change.path), f'"$OLD/{number}"'
    back = f"chosen {old}" if change.form == "choice" else f"cat {old}"
    do = [f"keep_file {number} {path} && write {path} {shlex.quote(change.value)}"]
    return do, [f"[ ! -e {old} ] || {{ {back} > {path} && rm {old}; }} || failed=1"]


def _coupled(number: int, path: str) -> tuple[list[str], list[str]]:
    """Yield lines that keep a coupled file before its partner is written, and restore it after the
    partner if it still differs. A refusal is not a failure: the kernel rejects a 0 for a value that
    writing the partner has already restored.
    """
    name, old = shlex.quote(path), f'"$OLD/{number}"'
    undo = f"[ ! -e {old} ] || cmp -s {old} {name} || cat {old} > {name}"
    return [f"keep_file {number} {name}"], [f"{{ {undo}; }} 2> /dev/null; rm -f {old}"]


def _command_step(number: int, change: Change) -> tuple[list[str], list[str]]:
    read = shlex.join([change.section, change.key, *change.read])
    write = shlex.join(word.replace("{value}", change.value) for word in change.write)
    old = f'"$OLD/{number}"'
    words = [f'"$(cat {old})"' if word == "{value}" else shlex.quote(word) for word in change.write]
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


_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,252}", re.ASCII)
"""A name that Ansible interprets as a single host in an inventory pattern."""


def ansible(groups: Sequence[tuple[HostPlan, Sequence[str]]], profile: str) -> str:
    """Return a play for each group of hosts with the same plan. Raise ``BadInput`` for a value that
    Ansible would interpret as a template, or a host name that it would interpret as a pattern.
    """
    lines = ["---"]
    for plan, hosts in groups:
        _check_names(hosts)
        tasks = [*_changes(plan), *(_keep(kept.keep) for kept in plan.keeps)]
        play = {
            "name": f"wireproof: settings for {profile}",
            "hosts": ",".join(hosts),
            "become": True,
            "gather_facts": False,
            "tasks": tasks,
        }
        _check(tasks)
        lines += [comment(line.removeprefix("# ")) for line in left_out(plan)]
        lines += list(_yaml([play], 0))
    return "\n".join([*lines, ""])


def _changes(plan: HostPlan) -> Iterator[dict[str, Any]]:
    for number, planned in enumerate(plan.changes):
        change = planned.change
        name = f"before_{number}"
        yield from _file(change, name) if change.kind == "file" else _command(change, name)


def _file(change: Change, name: str) -> Iterator[dict[str, Any]]:
    yield {
        "name": f"read {change.id}",
        "ansible.builtin.slurp": {"src": change.path},
        "register": name,
    }
    text = f"({name}.content | b64decode)"
    wanted = json.dumps(change.value)
    same = (
        f"('[' ~ {wanted} ~ ']') not in {text}"
        if change.form == "choice"
        else f"({text}.split() | join(' ')) != {wanted}"
    )
    yield {
        "name": f"set {change.id}",
        "ansible.builtin.command": {"argv": ["tee", change.path], "stdin": change.value},
        "when": same,
    }


def _command(change: Change, name: str) -> Iterator[dict[str, Any]]:
    """Yield tasks that read and set a value. The value is the first word after its key, as `tune
    apply` reads it.
    """
    yield {
        "name": f"read {change.id}",
        "ansible.builtin.command": {"argv": list(change.read)},
        "register": name,
        "changed_when": False,
        "check_mode": False,
    }
    argv = [word.replace("{value}", change.value) for word in change.write]
    first = json.dumps("\\1")
    match = f"{name}.stdout | regex_search({json.dumps(_pattern(change))}, {first})"
    yield {
        "name": f"set {change.id}",
        "ansible.builtin.command": {"argv": argv},
        "when": f"(({match}) or []) != [{json.dumps(change.value)}]",
    }


def _pattern(change: Change) -> str:
    """Return the search of `audit.values.part_of` as a single regular expression."""
    section = rf"^\s*{re.escape(change.section)}.*?" if change.section else ""
    names = "|".join(re.escape(name) for name in change.key.split("|"))
    return rf"(?ms){section}(?:^|(?<=[\s,]))(?:{names})(?:[ \t]*[:=][ \t]*|[ \t]+)(\S+)"


def _keep(drop_in: Keep) -> dict[str, Any]:
    return {
        "name": f"keep {drop_in.path}",
        "ansible.builtin.copy": {"dest": drop_in.path, "content": drop_in.text, "mode": "0644"},
    }


def _check_names(hosts: Sequence[str]) -> None:
    strange = [host for host in hosts if not _HOST.fullmatch(host)]
    if strange:
        raise BadInput(f"{strange[0][:100]!r} is not a host name that Ansible accepts.")


def _check(tasks: Sequence[dict[str, Any]]) -> None:
    text = json.dumps([{k: v for k, v in task.items() if k != "when"} for task in tasks])
    for sign in ("{{", "{%", "{#"):
        if sign in text.replace("}}", ""):
            raise BadInput(
                f"a value contains {sign!r}, which Ansible would interpret as a template."
            )


def _yaml(value: Any, depth: int) -> Iterator[str]:
    """Yield YAML: lists and mappings in block form, everything else as JSON."""
    indent = "  " * depth
    items = value if isinstance(value, list) else None
    for key in value if items is None else range(len(items)):
        inner = value[key]
        mark = f"{indent}- " if items is not None else f"{indent}{key}:"
        if isinstance(inner, (dict, list)) and inner:
            nested = list(_yaml(inner, depth + 1))
            if items is not None:
                yield mark + nested[0].lstrip()
                yield from nested[1:]
            else:
                yield mark
                yield from nested
        else:
            blank = "" if items is not None else " "
            yield f"{mark}{blank}{json.dumps(inner)}"


FORMS: dict[str, Callable[[HostPlan, Sequence[str], str], str]] = {
    "shell": shell,
    "tmpfiles": tmpfiles,
    "tuned": tuned,
}
"""Arguments of each: the plan of a host, the names of all hosts with the same plan, and the
profile.
"""
