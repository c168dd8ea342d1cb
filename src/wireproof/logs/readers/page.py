# pure
"""A real-world log converted to plain lines: decoded, without escapes, table borders, tags and rank
labels.
"""

import quopri
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from wireproof.model.errors import NoResult

# --- Prefixes that launchers and multi-host tools add to each line, which are removed: rank and
# host labels, time stamps, quotes, list marks. Mixed lines of several ranks or hosts are separated
# by their labels: the lines of each label are a separate log.

_TIME = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
# quotes of e-mails; the time stamps of build servers, containers, syslog, ts, dmesg and loggers,
# with the host and program, stream (stdout F, 01O) or level that may follow them
_STAMP = re.compile(
    r"^[ ]*(?:(?:>[ ]?){1,6}(?![-=])|\+(?![-=])|"
    rf"\[?(?:(?:\d{{4}}[-/]\d\d[-/]\d\d[T ])?{_TIME}(?:Z|[+-]\d\d:?\d\d)?"
    rf"|{_MONTH} [ \d]\d {_TIME}|1\d{{9}}\.\d{{3,9}}|[ ]{{0,5}}\d{{1,9}}\.\d{{6}}(?=\]))\]?:?"
    r"(?: [\w.-]{1,64} [\w./@:-]{1,64}\[\d{1,10}\]:)?(?: std(?:out|err) [FP](?= |$))?"
    r"(?: \d\d[OE](?= |$))?"
    r"(?: (?:- )?(?:\[?(?:INFO|DEBUG|NOTICE)\]?)(?: -)?:?(?= |$))?(?:[ ]|$)|"
    r"(?:INFO|DEBUG):[\w.]{1,64}:)"
)
# items of a list in YAML or JSON, the form in which Ansible prints the output of a command
_ITEM = re.compile(r"^[ ]*[-*](?:[ ]|$)")
_QUOTED = re.compile(r"""^[ ]*(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'|`([^`]*)`),?[ ]*$""")
# srun -l, mpirun --tag-output, Intel's -l; pdsh, clush and dsh; Fabric and parallel-ssh; kubectl
# logs --prefix; mininet; grep with several files
_PROGRAMS = r"(?:iperf3?|[a-z]*perf|ib_\w{1,20}|mpi\w{1,10}|s?run|slurmstepd|WARNING|ERROR|Error)"
# NetPIPE numbers its rows in the same way as srun -l numbers ranks
_LABEL = re.compile(
    r"^(?![ ]*\d{1,7}: {1,12}[\d.]{1,12} {1,2}(?:bytes|[KMGT]?B) {1,12}\d{1,10} times -->)"
    r"[ ]*(?:(\d{1,7}):(?:[ ]|$)|"
    r"\[(?:[\w.-]{1,80}@|rank ?)?(\d{1,5}(?:,\d{1,7})?)\](?:<std(?:out|err)>:?|:)?[ ]?|"
    rf"(?!{_PROGRAMS}:)([A-Za-z0-9][A-Za-z0-9._-]{{0,62}}):(?:[ ]|$)|"
    r"\[([A-Za-z0-9][A-Za-z0-9._-]{0,62})\](?: (?:out|err):|:)[ ]?|\[(pod/[\w./-]{1,200})\] |"
    r"<([A-Za-z0-9][\w.-]{0,62})>: ?|"
    r"([\w./-]{1,120}\.(?:dat|log|out|txt)):)"
)
# prefix of mpirun --tag-output: no other output begins like this, so it is removed even if few
# lines have it
_TAG = re.compile(r"^[ ]*\[(?:[\w.-]{1,80}@)?\d{1,5},\d{1,7}\]<std(?:out|err)>:?[ ]?")
# line numbers of cat -n, less -N and grep -n; docker compose
_NUMBER = re.compile(r"^[ ]*(\d{1,7})(?:[ ]{1,2}|:|$)")
_HEADING = re.compile(r"[ ]*[^\d\s.-][^\n]{0,80}[A-Za-z]")
_COMPOSE = re.compile(r"^([A-Za-z][\w.-]{0,62}[-_]\d{1,3}) {1,40}\|(?=[^|\n]*$)", re.MULTILINE)
# gh run view --log: job, step and time stamp
_JOB_AND_STEP = re.compile(r"^[^\t\n]{1,80}\t[^\t\n]{1,80}\t(?=\d{4}-\d\d-\d\dT)", re.MULTILINE)
_SHARE = 0.6
_SAMPLE = 200
_LAYERS = 4
_REPEATS = 3  # minimum number of lines per label, on average: "Device: mlx5_0" is not a label


def streams(lines: list[str]) -> list[tuple[str, list[int], list[str]]]:
    """Return (label, indexes, lines) for each label, in the order of first lines; a single entry
    with the label "" if the lines have no labels, or all the same.
    """
    keys: list[str] | None = None
    for _ in range(_LAYERS):
        sample = [line for line in lines[: 4 * _SAMPLE] if line.strip()][:_SAMPLE]
        if not sample:
            break
        undecorated = _undecorated(lines, sample)
        if undecorated is not None:
            lines = undecorated
        elif _labelled(sample):
            lines, keys = _unlabelled(lines, keys)
        else:
            break
    return _apart([_TAG.sub("", line) if "]<std" in line else line for line in lines], keys)


def _most(pattern: re.Pattern[str], sample: Sequence[str]) -> bool:
    return sum(pattern.match(line) is not None for line in sample) >= _SHARE * len(sample)


def _undecorated(lines: list[str], sample: Sequence[str]) -> list[str] | None:
    """Return the lines without the prefix that most of them have; None if most have none."""
    if _most(_STAMP, sample):
        return [_STAMP.sub("", line, count=1) for line in lines]
    if _most(_ITEM, sample):
        return [_unquoted(_ITEM.sub("", line, count=1)) for line in lines]
    if _most(_QUOTED, sample):
        return [_unquoted(line) for line in lines]
    return [_NUMBER.sub("", line, count=1) for line in lines] if _numbered(lines) else None


def _numbered(lines: list[str]) -> bool:
    """Return True if each line begins with its number, including headings: NetPIPE numbers only
    rows."""
    sample = lines[:_SAMPLE]
    found = [match for line in sample if (match := _NUMBER.match(line)) is not None]
    if len(found) != len(sample) or len(found) <= _REPEATS:
        return False
    begin = int(found[0].group(1))
    return all(int(match.group(1)) == at for at, match in enumerate(found, begin)) and any(
        _HEADING.match(match.string, match.end()) is not None for match in found
    )


def _unquoted(line: str) -> str:
    match = _QUOTED.match(line)
    if match is None:
        return line
    double, single, code = match.groups()
    if double is not None:
        return _unescaped(double)
    return code if single is None else single.replace("''", "'")


def _name(match: re.Match[str]) -> str:
    return next(filter(None, match.groups()), "")


def _labelled(sample: Sequence[str]) -> bool:
    """Return True if most lines begin with a label, and labels repeat."""
    found = [(match, line) for line in sample if (match := _LABEL.match(line)) is not None]
    names = Counter(_name(match) for match, _ in found)
    count = len(found)
    if 2 * sum(match.end() < len(line) for match, line in found) <= count:
        return False  # headings that are alone on their lines
    least = min(_REPEATS, len(sample)) * len(names)
    ranks = all(name.replace(",", "").isdigit() for name in names)
    return count >= _SHARE * len(sample) and (ranks or count >= least)


def _unlabelled(lines: list[str], keys: list[str] | None) -> tuple[list[str], list[str]]:
    """Return the lines without their labels, and the labels, appended to those removed earlier."""
    bare, names = [], []
    for index, line in enumerate(lines):
        match = _LABEL.match(line)
        name = _name(match) if match is not None else ""
        bare.append(line[match.end() :] if match is not None else line)
        names.append(f"{keys[index]} {name}".strip() if keys is not None else name)
    return bare, names


def _apart(lines: list[str], keys: list[str] | None) -> list[tuple[str, list[int], list[str]]]:
    names = dict.fromkeys(key for key in keys or () if key)
    if keys is None or len(names) < 2:
        return [("", list(range(len(lines))), lines)]
    found: dict[str, tuple[list[int], list[str]]] = {}
    for index, (key, line) in enumerate(zip(keys, lines, strict=True)):
        indexes, own = found.setdefault(key, ([], []))
        indexes.append(index)
        own.append(line)
    return [(key, indexes, own) for key, (indexes, own) in found.items()]


_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_TAGS = re.compile(
    r"</?(?:html|body|t[dhr]|table|tbody|thead|pre|code|p|br|div|span)\b[^<>\n]{0,200}>",
    re.IGNORECASE,
)
_BREAKS = re.compile(r"</tr>|</pre>|<br\s*/?>", re.IGNORECASE)
_ENTITIES = {
    "&nbsp;": " ",
    "&#160;": " ",
    "&apos;": "'",
    "&#xa0;": " ",
    "&gt;": ">",
    "&lt;": "<",
    "&quot;": '"',
    "&amp;": "&",
}
_ENTITY = re.compile("|".join((*_ENTITIES, r"&#(3[2-9]|[4-9]\d|1[01]\d|12[0-6]);")))
_BOLD = re.compile(r"\*\*(-?\d[\d.]{0,30})\*\*")
_SPACES: dict[int, str | None] = {
    ord(char): " " for char in "\t\v\f\xa0\u2002\u2003\u2007\u2009\u200b\u202f\u3000|\u2502\ufeff"
}
_SPACES |= dict.fromkeys(range(0x80, 0xA0))  # the other notation of terminal escapes
# Rows of a CSV file: only numbers, the first an integer, and the same separator between them. If it
# is a semicolon, a comma is the decimal point.
_FIRST, _NEXT = r'[ ]*"?[0-9]{1,18}"?', r'[ ]{0,8}"?-?[0-9][0-9.eE+-]{0,30}'
_COMMAS = re.compile(rf'{_FIRST}(?:,{_NEXT}"?){{1,24}},?[ ]*')
_SEMICOLONS = re.compile(rf'{_FIRST}(?:;{_NEXT}(?:,[0-9]{{0,9}})?"?){{1,24}};?[ ]*')
# Numbers as a locale with decimal commas prints them. Groups of thousands have three digits, so
# other counts prove that the comma is decimal; a space or a hyphen precedes a number of a row, but
# not one of CSV.
_WITH_COMMA = re.compile(r"(?<=[ -])(\d{1,12}),(\d{1,9})(?=s?(?![\w.,]))")
_BY_LOCALE = re.compile(r"(?<=[ -])(?:\d{1,12},(?:\d\d?|\d{4,9})|0,\d{3})(?=s?(?![\w.,]))")
_WITH_POINT = re.compile(r"(?<=[ -])\d{1,12}\.\d{1,9}(?=s?(?![\w.,]))")
_FEWEST_COMMAS, _COMMAS_A_POINT = 3, 4
_FEW = 5  # lines that may be repeated by chance
_BINARY_SAMPLE = 1 << 16
_BINARY = "binary file, not a log: give the benchmark's text output"
_UNPACKERS = {b"\x1f\x8b": "zcat", b"BZh": "bzcat", b"\xfd7zXZ": "xzcat", b"(\xb5/\xfd": "zstdcat"}
# a whole output in one string, as in JSON
_PACKED = 3
_ESCAPED = re.compile(r"\\(?:u00([0-7][0-9a-fA-F])|([^u]))")
_MEANT = {"n": "\n", "t": " ", "r": "", "b": "", "f": " "}
# quoted-printable e-mails: a soft line end and an encoded "=" prove them
_SOFT_END, _ENCODED_EQUALS = b"=\n", b"=3D"
# a line end of Windows as less and editors show it; "#" as Markdown escapes it
_TYPED = re.compile(r"\^M *$|(?<!\S)\\(?=#)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Page:
    """``lines`` have no line end and no decoration. ``cut``: the text ends without a line end, so
    the last line may be torn. ``label``: the rank or host that the lines belong to; ``indexes``:
    their positions in the log, if it contains several labels.
    """

    source: str
    lines: list[str]
    cut: bool
    label: str = ""
    indexes: Sequence[int] = ()

    @property
    def ragged(self) -> int:
        """The index of a last line that may be torn; -1 if the text ends with a line end."""
        return len(self.lines) - 1 if self.cut else -1


def _decoded(data: bytes, source: str) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    sample = data[:_BINARY_SAMPLE]
    odd = sum(
        sample.count(byte)
        for byte in (b"\x00", b"\x01", b"\x02", b"\x03", b"\x04", b"\x05", b"\x06")
    )
    if odd > len(sample) // 200:
        program = next((text for magic, text in _UNPACKERS.items() if data.startswith(magic)), "")
        packed = f"compressed file: use `{program} FILE | wireproof judge -`"
        raise NoResult(f"{source}: this is a {packed if program else _BINARY}.")
    if _ENCODED_EQUALS in data and _SOFT_END in data.replace(b"\r", b""):
        data = quopri.decodestring(data)
    return data.decode("utf-8", "replace")


def _unescaped(text: str) -> str:
    def meant(match: re.Match[str]) -> str:
        code, char = match.groups()
        return chr(int(code, 16)) if char is None else _MEANT.get(char, char)

    return _ESCAPED.sub(meant, text)


def _unpacked(text: str) -> str:
    """Return the text split into lines if strings contain whole outputs."""
    if text.count("\\n") < _PACKED:
        return text
    return "\n".join(
        _unescaped(line.replace('": "', '": \n')) if line.count("\\n") >= _PACKED else line
        for line in text.split("\n")
    )


def _without_escapes(text: str) -> str:
    if "\x1b" in text:
        text = _ESCAPES.sub("", text).replace("\x1b", "")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _TYPED.sub("", text) if "^M" in text or "\\#" in text else text


def _without_markup(text: str) -> str:
    if "<" in text:
        text = _TAGS.sub(" ", _BREAKS.sub("\n", text))
    if "&" in text:
        text = _ENTITY.sub(_character, text)
    return _BOLD.sub(r"\1", text) if "**" in text else text


def _character(match: re.Match[str]) -> str:
    code = match.group(1)
    return _ENTITIES[match.group(0)] if code is None else chr(int(code))


def _with_plain_blanks(text: str) -> str:
    if "\t" in text:
        text = _JOB_AND_STEP.sub("", text)
    if text.isascii() and "|" not in text and "\t" not in text:
        return text
    if "|" in text and len(_COMPOSE.findall(text)) >= _SHARE * text.count("\n"):
        text = _COMPOSE.sub(r"\1:", text)
    return text.translate(_SPACES)


def _with_points(text: str) -> str:
    """Return the text with decimal points if the locale of the tool's machine printed commas."""
    proved = len(_BY_LOCALE.findall(text)) if "," in text else 0
    if proved < _FEWEST_COMMAS or proved <= _COMMAS_A_POINT * len(_WITH_POINT.findall(text)):
        return text
    return _WITH_COMMA.sub(r"\1.\2", text)


def _text(data: bytes, source: str) -> str:
    plain = _without_markup(_unpacked(_without_escapes(_decoded(data, source))))
    return _with_points(_with_plain_blanks(plain))


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if " \n" in text:  # the last line keeps its spaces: they may show that it was cut off
        lines[:-1] = [line.rstrip() for line in lines[:-1]]
    if lines and not lines[-1]:
        lines.pop()
    if len(lines) > _FEW and lines[::2] == lines[1::2]:  # two loggers wrote each line
        lines[1::2] = [""] * (len(lines) // 2)
    return lines


def _plain_row(line: str) -> str:
    if "," in line and _COMMAS.fullmatch(line):
        return line.replace(",", " ").replace('"', "")
    if ";" in line and _SEMICOLONS.fullmatch(line):
        return line.replace(";", " ").replace(",", ".").replace('"', "")
    return line


def without_commas(page: Page) -> Page:
    """Return the same page with spaces between the numbers of CSV rows."""
    return replace(page, lines=[_plain_row(line) for line in page.lines])


def pages_of(data: bytes, source: str) -> list[Page]:
    """Return the lines of a log; if lines of several ranks or hosts are mixed, one page per label.
    Raise NoResult if it is not text.
    """
    text = _text(data, source)
    lines = _lines(text)
    cut = bool(lines) and not text.endswith("\n")
    last = len(lines) - 1
    return [
        Page(source, own, cut and indexes[-1] == last, label, indexes if label else ())
        for label, indexes, own in streams(lines)
    ] or [Page(source, [], False)]


def page_of(data: bytes, source: str) -> Page:
    """Return the lines of a log, with all ranks and hosts in printed order. Raise NoResult if it is
    not text.
    """
    pages = pages_of(data, source)
    if len(pages) == 1:
        return pages[0]
    placed = sorted(  # the lines without a label have indexes that no page uses
        (index, line)
        for _, indexes, own in streams(_lines(_text(data, source)))
        for index, line in zip(indexes, own, strict=True)
    )
    return Page(source, [line for _, line in placed], any(page.cut for page in pages))
