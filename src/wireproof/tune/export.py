"""A plan as a file of other tools. Pure.

Each form takes hosts with the same plan. What a form cannot say stands in it as a comment.
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
from wireproof.model.tuning import Change, HostPlan, Keep


def comment(text: str) -> str:
    """One line that no reader takes for more."""
    return "# " + "".join(letter if letter.isprintable() else "?" for letter in text)


def head(hosts: Sequence[str], profile: str) -> str:
    shown = ", ".join(hosts[:8]) + (f" and {len(hosts) - 8} more" if len(hosts) > 8 else "")
    return comment(f"wireproof tune: settings for {profile} of {shown}")


def left_out(plan: HostPlan, changes: Iterable[Change] = ()) -> list[str]:
    """What the form cannot say, and what is done by hand."""
    lines = [comment(f"not in this form: {one.id} = {one.value}") for one in changes]
    lines += [
        comment(f"not in this form: {one.id}: {one.display} = {one.wanted}, by its BMC")
        for one in plan.firmware
    ]
    return lines + [comment(f"by hand: {one.id}: {one.how}") for one in plan.by_hand]


_OPTIONS = {"-K": "features", "-C": "coalesce", "-A": "pause", "-G": "ring", "-L": "channels"}
"""ethtool's option to that of the plugin net."""


def tuned(plan: HostPlan, hosts: Sequence[str], profile: str) -> str:
    """The text for /etc/tuned/profiles/wireproof/tuned.conf."""
    changes = [one.change for one in plan.changes]
    others = [one for one in changes if _is_other(one)]
    lines = [head(hosts, profile), *left_out(plan, others)]
    lines += ["", "[main]", f"summary=Settings for {profile} by wireproof"]
    mine = [one for one in changes if one not in others]
    return "\n".join([*lines, *_sections(mine), ""])


def _is_other(one: Change) -> bool:
    """``${`` in a value: tuned would take it for a variable or a function, which can run
    commands.
    """
    return "${" in one.value or (one.kind != "file" and _net(one) is None)


def _sections(changes: Sequence[Change]) -> Iterator[str]:
    files = [one for one in changes if one.kind == "file"]
    for name, prefix in (("sysctl", "/proc/sys/"), ("sysfs", "/sys/")):
        mine = [one for one in files if one.path.startswith(prefix)]
        if mine:
            yield from ("", f"[{name}]")
        for one in mine:
            key = sysctl_name(one.path) if name == "sysctl" else one.path
            yield f"{key}={one.value}"
    yield from _nets(changes)


def _nets(changes: Sequence[Change]) -> Iterator[str]:
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for one in changes:
        net = _net(one)
        if net is not None:
            nic, option, words = net
            found[nic][option].append(words)
    for nic, options in found.items():
        yield from ("", f"[net_{nic}]", "type=net", f"devices={nic}")
        for option, parts in options.items():
            yield f"{option}={' '.join(parts)}"


def _net(one: Change) -> tuple[str, str, str] | None:
    """Interface, option of the plugin, its words."""
    if one.kind == "file" or one.write[:1] != ("ethtool",) or one.write[1] not in _OPTIONS:
        return None
    words = " ".join(word.replace("{value}", one.value) for word in one.write[3:])
    return one.write[2], _OPTIONS[one.write[1]], words


def tmpfiles(plan: HostPlan, hosts: Sequence[str], profile: str) -> str:
    """``w PATH - - - - VALUE``; a percent sign is doubled."""
    changes = [one.change for one in plan.changes]
    lines = [head(hosts, profile)]
    for one in changes:
        if one.kind == "file":
            lines.append(f"w {_escaped(one.path)} - - - - {_escaped(one.value)}")
    others = [one for one in changes if one.kind != "file"]
    return "\n".join([*lines, *left_out(plan, others), ""])


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
        yield _file_step(number, one) if one.kind == "file" else _command_step(number, one)
        number += 1
    for keep in plan.keeps:
        yield _drop_in(number, keep.keep.path, keep.keep.text)
        number += 1


def _file_step(number: int, one: Change) -> tuple[list[str], list[str]]:
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


def _command_step(number: int, one: Change) -> tuple[list[str], list[str]]:
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


_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,252}", re.ASCII)
"""What an inventory's pattern takes for one host."""


def ansible(groups: Sequence[tuple[HostPlan, Sequence[str]]], profile: str) -> str:
    """A play for each group of hosts with the same plan. Raises ``BadInput`` for a value that
    Ansible would take for a template, or a host's name that it would take for a pattern.
    """
    lines = ["---"]
    for plan, hosts in groups:
        _check_names(hosts)
        tasks = [*_changes(plan), *(_keep(one.keep) for one in plan.keeps)]
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
    for number, each in enumerate(plan.changes):
        one = each.change
        name = f"before_{number}"
        yield from _file(one, name) if one.kind == "file" else _command(one, name)


def _file(one: Change, name: str) -> Iterator[dict[str, Any]]:
    yield {
        "name": f"read {one.id}",
        "ansible.builtin.slurp": {"src": one.path},
        "register": name,
    }
    text = f"({name}.content | b64decode)"
    wanted = json.dumps(one.value)
    same = (
        f"('[' ~ {wanted} ~ ']') not in {text}"
        if one.form == "choice"
        else f"({text}.split() | join(' ')) != {wanted}"
    )
    yield {
        "name": f"set {one.id}",
        "ansible.builtin.command": {"argv": ["tee", one.path], "stdin": one.value},
        "when": same,
    }


def _command(one: Change, name: str) -> Iterator[dict[str, Any]]:
    """The value is the first word behind its key, as `tune apply` reads it."""
    yield {
        "name": f"read {one.id}",
        "ansible.builtin.command": {"argv": list(one.read)},
        "register": name,
        "changed_when": False,
        "check_mode": False,
    }
    argv = [word.replace("{value}", one.value) for word in one.write]
    first = json.dumps("\\1")
    found = f"{name}.stdout | regex_search({json.dumps(_pattern(one))}, {first})"
    yield {
        "name": f"set {one.id}",
        "ansible.builtin.command": {"argv": argv},
        "when": f"(({found}) or []) != [{json.dumps(one.value)}]",
    }


def _pattern(one: Change) -> str:
    """What `audit.values.part_of` looks for, in a single expression."""
    section = rf"^\s*{re.escape(one.section)}.*?" if one.section else ""
    names = "|".join(re.escape(name) for name in one.key.split("|"))
    return rf"(?ms){section}(?:^|(?<=[\s,]))(?:{names})(?:[ \t]*[:=][ \t]*|[ \t]+)(\S+)"


def _keep(one: Keep) -> dict[str, Any]:
    return {
        "name": f"keep {one.path}",
        "ansible.builtin.copy": {"dest": one.path, "content": one.text, "mode": "0644"},
    }


def _check_names(hosts: Sequence[str]) -> None:
    strange = [host for host in hosts if not _HOST.fullmatch(host)]
    if strange:
        raise BadInput(f"Ansible has no host of the name {strange[0][:100]!r}.")


def _check(tasks: Sequence[dict[str, Any]]) -> None:
    text = json.dumps([{k: v for k, v in task.items() if k != "when"} for task in tasks])
    for sign in ("{{", "{%", "{#"):
        if sign in text.replace("}}", ""):
            raise BadInput(f"a value holds {sign!r}, which Ansible would take for a template.")


def _yaml(value: Any, depth: int) -> Iterator[str]:
    """Lists and mappings in block form, everything else as JSON."""
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
"""Each takes one host's plan, the names of all that share it, and the profile."""
