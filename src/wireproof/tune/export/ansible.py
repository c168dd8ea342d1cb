"""An Ansible playbook: each value is read, and written where it is another. Pure.

Modules of ansible.builtin alone; YAML is written as JSON's strings in block form.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from wireproof.model.change import Change, Keep
from wireproof.model.errors import BadInput
from wireproof.model.tuning import HostPlan
from wireproof.tune.export.comments import comment, left_out

__all__ = ["ansible"]

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
