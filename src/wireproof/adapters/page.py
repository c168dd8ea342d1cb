"""A log as it is met in life, made into plain lines: decoded, without escapes, bars, tags and rank
labels.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from wireproof.model.errors import NoResult

__all__ = ["Page", "page_of"]

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_TAGS = re.compile(
    r"</?(?:t[dhr]|table|tbody|thead|pre|code|p|br|div|span)\b[^<>\n]{0,200}>", re.IGNORECASE
)
_BREAKS = re.compile(r"</tr>|<br\s*/?>", re.IGNORECASE)
_ENTITIES = {
    "&nbsp;": " ",
    "&#160;": " ",
    "&#xa0;": " ",
    "&gt;": ">",
    "&lt;": "<",
    "&quot;": '"',
    "&amp;": "&",
}
_ENTITY = re.compile("|".join(_ENTITIES))
_SPACES: dict[int, str | None] = {
    ord(char): " " for char in "\t\v\f\xa0\u2002\u2003\u2007\u2009\u200b\u202f\u3000|\u2502\ufeff"
}
_SPACES |= dict.fromkeys(range(0x80, 0xA0))  # the other way to write a terminal's escapes
# srun -l, mpirun --tag-output, Intel's -l, an e-mail's quote, the time stamps of build servers and
# container logs
_LABEL = re.compile(
    r"(?m)^[ ]*(?:\d{1,7}:[ ]|\[\d{1,5}(?:,\d{1,7})?\](?:<std(?:out|err)>:?)?[ ]?|>[ ]|"
    r"\[?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?(?:[ ]|$))"
)
_LABELLED_SHARE = 0.6
_SAMPLE_LINES = 200
_BINARY_SAMPLE = 1 << 16


@dataclass(frozen=True, slots=True)
class Page:
    """``lines`` have no line end and no surrounding decoration. ``cut``: the text ends without a
    line end, so that the last line may be torn.
    """

    source: str
    lines: list[str]
    cut: bool


def _decoded(data: bytes, source: str) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    sample = data[:_BINARY_SAMPLE]
    odd = sum(
        sample.count(byte)
        for byte in (b"\x00", b"\x01", b"\x02", b"\x03", b"\x04", b"\x05", b"\x06")
    )
    if odd > len(sample) // 200:
        raise NoResult(
            f"{source}: this is a binary file, not a log: give the text that the benchmark printed."
        )
    return data.decode("utf-8", "replace")


def _unlabelled(text: str) -> str:
    """Without ``0: `` or ``[1,0]<stdout>:`` in front, when most lines have one."""
    sample = [
        line for line in text[:20000].split("\n", _SAMPLE_LINES)[:_SAMPLE_LINES] if line.strip()
    ]
    labelled = sum(_LABEL.match(line) is not None for line in sample)
    return _LABEL.sub("", text) if sample and labelled >= _LABELLED_SHARE * len(sample) else text


def _without_escapes(text: str) -> str:
    if "\x1b" in text:
        text = _ESCAPES.sub("", text).replace("\x1b", "")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text


def _without_markup(text: str) -> str:
    if "<t" in text or "</" in text:
        text = _TAGS.sub(" ", _BREAKS.sub("\n", text))
    if "&" in text:
        text = _ENTITY.sub(lambda match: _ENTITIES[match.group(0)], text)
    return text


def _with_plain_blanks(text: str) -> str:
    if text.isascii() and "|" not in text and "\t" not in text:
        return text
    return text.translate(_SPACES)


def page_of(data: bytes, source: str) -> Page:
    """The lines of a log. Raises BadInput for what is not text."""
    text = _decoded(data, source)
    cut = not text.endswith(("\n", "\r"))
    text = _unlabelled(_with_plain_blanks(_without_markup(_without_escapes(text))))
    lines = text.split("\n")
    if " \n" in text:  # the last line keeps its blanks: they may say that it was cut
        lines[:-1] = [line.rstrip() for line in lines[:-1]]
    if lines and not lines[-1]:
        lines.pop()
    return Page(source, lines, cut and bool(lines))
