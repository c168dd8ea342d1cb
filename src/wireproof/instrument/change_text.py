"""The text of a change set, as ``wireproof-node tune apply`` reads it. Pure.

The form is that of plans: one statement a line, docs/reference/engine-interface.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from wireproof.instrument.plan_text import encode_value
from wireproof.model.change import Change, ChangeSet

__all__ = ["write_change_set"]


def write_change_set(wanted: ChangeSet) -> str:
    """The request; ends with a newline."""
    return "\n".join(_lines(wanted)) + "\n"


def _lines(wanted: ChangeSet) -> Iterator[str]:
    who = encode_value(wanted.by)
    yield f"set id={encode_value(wanted.id)} by={who} timeout_s={wanted.timeout_s}"
    for change in wanted.changes:
        yield _change(change)
    for keep in wanted.keeps:
        yield f"keep path={encode_value(keep.path)} text={encode_value(keep.text)}"


def _change(change: Change) -> str:
    words = [
        f"change id={encode_value(change.id)}",
        f"kind={change.kind}",
        f"value={encode_value(change.value)}",
    ]
    if change.kind == "file":
        words += [f"path={encode_value(change.path)}", f"form={change.form}"]
        words += _listed("coupled", change.coupled)
    else:
        words += _listed("read", change.read)
        words += [f"section={encode_value(change.section)}"] if change.section else []
        words += [f"key={encode_value(change.key)}", *_listed("write", change.write)]
    return " ".join(words)


def _listed(key: str, items: Iterable[str]) -> list[str]:
    text = ",".join(map(encode_value, items))
    return [f"{key}={text}"] if text else []
