# pure
"""Adapters: they read the output of other benchmarks into Series, and build these benchmarks'
command lines. No processes, no files.

``registry`` defines adapters, lists the tools and builds command lines. ``read`` finds every result
in a log, whichever tool printed it: a file may contain the output of several tools, banners and
other text. Each tool has a module, or a folder with its ``benchmarks`` (what each measures) and
other modules. They share ``page`` (a log as plain lines), ``rows`` (tables of numbers, facts around
them) and ``documents`` (JSON). ``table`` reads a bare table without a tool's heading, ``headless``
rows without any heading.
"""

import re
from collections.abc import Iterator

import msgspec

from wireproof.logs.readers.headless import headless
from wireproof.logs.readers.page import Page, pages_of, without_commas
from wireproof.logs.readers.registry import Adapter, adapter, adapter_names, tool_of
from wireproof.model.errors import BadInput, NoResult
from wireproof.model.quantity import counted
from wireproof.model.series import BYPASS, ONE_HOST, SOFTWARE, Series, SeriesPoint

__all__ = ["adapter", "adapter_names", "read"]


_MOST_LINES = 500_000
_MOST_SERIES = 20_000
_SPLIT = "cut out the part that contains the results, or split it into several files"
"""With both limits and one on the size, a log needs less than 1 GiB of memory."""
_FEWEST = 3  # sizes that rise before they begin again
# Tools that print their sizes several times under one heading, for each run or pair.
_REPEATING = ("nccl_tests", "mpigraph", "iperf3", "hpcc", "sockperf", "qperf")
_LINE = re.compile(r"\bline (\d{1,9})\b")


def _heads(page: Page) -> Iterator[tuple[int, Adapter]]:
    """Yield (line index, tool) of every line with a sign. Most lines are rows of numbers and need
    no search.
    """
    for index, line in enumerate(page.lines):
        plain = line.replace(" ", "").replace(".", "")
        if line and not plain.isdigit() and (tool := tool_of(line)) is not None:
            yield index, tool


def _finished(one: Series, page: Page, first: int) -> Series:
    """Return the series with the fields that are the same for all tools. Without points it is not
    complete. It begins on line ``first`` and ends with its last row, unless the tool's reader sets
    other lines.
    """
    why = one.incomplete or ("" if one.points else "no row could be read")
    begin = one.first_line or first
    return msgspec.structs.replace(
        one,
        points=_by_size(one.points),
        complete=not why,
        incomplete=why,
        source=page.source,
        first_line=begin,
        last_line=one.last_line or max([begin, *(point.line for point in one.points)]),
    )


def _runs(one: Series) -> list[Series]:
    """Return the series, or only its first run if the sizes start again without a heading."""
    if one.tool in _REPEATING:
        return [one]
    points = sorted(one.points, key=lambda point: point.line)
    sizes = [point.message_bytes for point in points]
    rises = next((at for at in range(1, len(sizes)) if sizes[at] < sizes[at - 1]), len(sizes))
    if rises < _FEWEST or rises == len(sizes) or sizes[rises] > sizes[1]:
        return [one]
    first, rest = points[:rises], points[rises:]
    if len(set(sizes[:rises])) < _FEWEST:
        return [one]
    text = (
        f"line {rest[0].line}: the sizes start again without a heading: the run and test of the "
        f"{counted(len(rest), 'row')} from there on are unknown"
    )
    return [
        msgspec.structs.replace(one, points=_by_size(first), last_line=first[-1].line),
        msgspec.structs.replace(
            one,
            benchmark=f"{one.benchmark} (no heading)",
            traffic="other",
            points=_by_size(rest),
            complete=False,
            incomplete=text,
            first_line=rest[0].line,
        ),
    ]


def _by_size(points: list[SeriesPoint]) -> list[SeriesPoint]:
    return sorted(points, key=lambda point: point.message_bytes)


def _found(page: Page, source: str) -> list[Series]:
    found: list[Series] = []
    after, plain = 0, None
    for index, tool in _heads(page):
        if index >= after:
            if tool.csv and plain is None:
                plain = without_commas(page)
            parsed = tool.parse(plain if tool.csv and plain is not None else page, index)
            after = max(parsed.after, index + 1)
            finished = (_finished(one, page, index + 1) for one in parsed.series)
            found += [part for one in finished for part in _runs(one)]
            if len(found) > _MOST_SERIES:
                raise BadInput(f"{source}: more than {_MOST_SERIES} results in one log: {_SPLIT}.")
    return found


def read(data: bytes, source: str) -> list[Series]:
    """Return every series in a log, in printed order. Raise BadInput if it is empty, binary, or has
    none.

    ``source`` is the name used in errors and series.
    """
    if not data.strip():
        raise BadInput(f"{source}: the file is empty.")
    if data.count(b"\n") + data.count(b"\r") > _MOST_LINES:
        raise BadInput(f"{source}: more than {_MOST_LINES} lines in one log: {_SPLIT}.")
    pages = pages_of(data, source)
    found = [one for page in pages for one in _of_page(page, data, source)]
    if not found:
        lines = sum(len(page.lines) for page in pages)
        seen = next((text for sign, text in _NOT_READ if sign.search(data)), "")
        raise NoResult(
            f"{source}: no result of a known benchmark in {lines} lines; `wireproof judge -h` "
            f"lists the tools; `wireproof locate` reads tables of pairs.{seen}"
        )
    return sorted(found, key=lambda one: one.first_line) if len(pages) > 1 else found


_NOT_READ: tuple[tuple[re.Pattern[bytes], str], ...] = (
    (
        re.compile(
            rb"^[ \t]{0,40}(?:PortState:[ \t]|Current Configuration:[ \t])",
            re.IGNORECASE | re.MULTILINE,
        ),
        " This is the output of opainfo or QCU: `wireproof lint FILE` reads it.",
    ),
    (
        re.compile(rb"^nvbandwidth Version:", re.MULTILINE),
        " This is the output of nvbandwidth, which measures only a node's GPUs and no network.",
    ),
    (
        re.compile(rb"^[ \t]{0,40}Network(?:Load)? Tests v\d", re.MULTILINE),
        " This is the output of GPCNeT, which is not read: its rings put several ranks on a host.",
    ),
    (
        re.compile(rb"^b_eff +=", re.MULTILINE),
        " This is the output of b_eff, which is not read: it prints means. HPCC's version is read.",
    ),
    (
        re.compile(rb"^single direction *: +\d[^\n]{0,40}\n *pair-based *: +\d", re.MULTILINE),
        " This is the output of Sandia's msgrate, which is not read: use osu_mbw_mr.",
    ),
    (
        re.compile(rb"^Comb version \d", re.MULTILINE),
        " This is the output of Comb, which is not read: it times exchanges of a mesh as a whole.",
    ),
    (
        re.compile(rb"\bclusterkit\b", re.IGNORECASE),
        " It mentions ClusterKit, whose output is not read: use mpiGraph or OSU's benchmarks.",
    ),
    (
        re.compile(rb"^size\(B\) +count\(elems\) ", re.MULTILINE),
        " This is the output of nccom-test, which is not read: use nccl-tests.",
    ),
    (
        re.compile(rb"\d MB / +\d[\d.]{0,12} sec = +\d[\d.]{0,15} Mbps\b"),
        " This is the output of nuttcp, which is not read: it prints no message size.",
    ),
    (
        re.compile(rb"\bNTttcp\b|\bntttcp\b|Bytes\(MEG\) +realtime\(s\)", re.IGNORECASE),
        " This is the output of NTttcp, which is not read: it prints no message size.",
    ),
)
"""The sign of an output that no adapter reads, and a sentence about it."""


def _tables(page: Page) -> list[Series]:
    from wireproof.logs.readers.table import tables

    return [part for one in tables(page) for part in _runs(_finished(one, page, 0))]


def _of_page(page: Page, data: bytes, source: str) -> list[Series]:
    found = _found(page, source) or _tables(page)
    rest = [_finished(one, page, 0) for one in headless(page, found)]
    if rest:
        found = sorted([*found, *rest], key=lambda one: one.first_line)
    found = with_context(found, page, data)
    return [_placed(one, page) for one in found] if page.indexes else found


def _placed(one: Series, page: Page) -> Series:
    """Return the series with its label and with the line numbers of the whole log, which has
    several labels.
    """

    def line(number: int) -> int:
        return page.indexes[number - 1] + 1 if 0 < number <= len(page.indexes) else number

    def said(text: str) -> str:
        return _LINE.sub(lambda match: f"line {line(int(match.group(1)))}", text)

    points = [msgspec.structs.replace(point, line=line(point.line)) for point in one.points]
    return msgspec.structs.replace(
        one,
        points=points,
        first_line=line(one.first_line),
        last_line=line(one.last_line),
        incomplete=said(one.incomplete),
        notes=[*map(said, one.notes), *([f"printed by {page.label}"] if page.label else [])],
    )


# --- The content of a log besides its results.


# --- The software that a log mentions: the MPI, the system and its kernel. A banner, or the output
# of
# `uname -a`, `mpirun --version` or `cat /etc/os-release`, applies to all results after it.

_VERSION = r"(\d[\w.]{0,30}(?: Update \d{1,2})?)"
_SIGNS: tuple[tuple[str, str, str, re.Pattern[str]], ...] = (
    # kind, a word in the line, name, pattern with the version
    (
        "mpi",
        "MPI Library",
        "Intel MPI",
        re.compile(r"Intel\(R\) MPI Library(?: for Linux\* OS)?,? Version " + _VERSION),
    ),
    ("mpi", "Open MPI)", "Open MPI", re.compile(r"\(Open MPI\) " + _VERSION)),
    ("system", "PRETTY_NAME=", "", re.compile(r'^PRETTY_NAME="?([\w][\w ./()-]{2,60}?)"?$')),
    (
        "system",
        " release ",
        "",
        re.compile(
            r"^((?:AlmaLinux|CentOS|Fedora|Oracle|Red Hat|Rocky)[\w ]{0,40} release \d[\w.]{0,20})"
            r"(?: \([\w ]{1,40}\))?$"
        ),
    ),
    ("kernel", "# Release", "Linux", re.compile(r"^# Release +: " + r"(\d[\w.+-]{2,60})$")),
    ("kernel", "Linux ", "Linux", re.compile(r"^Linux \S{1,80} (\d+\.\d[\w.+-]{2,60})(?: |$)")),
)
_SOFTWARE_HINTS = tuple({word.encode() for _, word, _, _ in _SIGNS})


def _software(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the kind and the name of all software that the lines mention."""
    for line in lines:
        for kind, word, name, pattern in _SIGNS:
            found = pattern.search(line[:400]) if word in line else None
            if found is not None:
                yield kind, f"{name} {found.group(1)}".strip()


# --- A launch line that places all ranks on one host, so that none of their traffic reaches a wire.
# Servers and clients are launched separately, so only programs that an MPI starts count.

_LAUNCHERS = ("srun", "mpirun", "mpiexec", "mpiexec.hydra")
_PROGRAM = re.compile(r"(?:^|/)(?:osu_[a-z]\w{1,40}|IMB-\w{3,8}|hpcc|mpiGraph)$")
# -N of srun; Open MPI's -N is a count
_ONE_NODE = re.compile(r"(?:^| )(-N ?1|--nodes[= ]1)(?= |$)")
_ONE_NAME = re.compile(r"(?:^| )((?:-H|--?hosts?)[= ][\w.-]{1,80}(?::\d{1,5})?)(?= |$)")
_MOST_LAUNCH = 1000
_LAUNCHER_HINTS = tuple(name.encode() for name in _LAUNCHERS[:3])


def _one_host(line: str) -> str | None:
    """Return the option that places all ranks on one host, "" for another launch, None for a line
    that launches nothing.
    """
    if not any(name in line for name in _LAUNCHERS[:3]) or line.lstrip().startswith("#"):
        return None
    words = line[:_MOST_LAUNCH].split()
    programs = [word.rpartition("/")[2] for word in words]
    begin = next((at for at, name in enumerate(programs) if name in _LAUNCHERS), len(words))
    end = next((at for at in range(begin, len(words)) if _PROGRAM.search(words[at])), None)
    if end is None:
        return None
    pattern = _ONE_NODE if programs[begin] == "srun" else _ONE_NAME
    options = pattern.findall(" ".join(words[begin + 1 : end]))
    return f"{programs[begin]} {options[0]}" if len(options) == 1 and ":" not in words else ""


def _launch(lines: list[str], kept: str) -> str:
    """Return the option of the launch in ``lines``: ``kept`` if they launch nothing, "" if several
    launches differ.
    """
    launches = {launch for line in lines if (launch := _one_host(line)) is not None}
    return kept if not launches else launches.pop() if len(launches) == 1 else ""


# --- Sockets without the kernel: if a log names such a library, the kernel's latency floor does not
# apply.

# (library, its text when a program starts, its name in an environment or a command line)
_LIBRARIES: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("libvma", ("VMA INFO", "VMA_VERSION"), ("libvma.so",)),
    ("libxlio", ("XLIO INFO", "XLIO_VERSION"), ("libxlio.so",)),
    (
        "Onload",
        ("OpenOnload", "Using Onload"),
        ("libonload", "onload -p", "onload --", "onload sockperf", "onload iperf"),
    ),
    ("TCPDirect", ("TCPDirect",), ("libonload_zf",)),
    ("rsocket", (), ("librspreload.so",)),
    ("SDP", (), ("libsdp.so",)),
    ("SMC-R", (), ("libsmc-preload.so", "smc_run ")),
    ("ExaSock", ("exasock",), ("libexasock",)),
    ("DBL", (), ("libdbl.so",)),
    ("DPDK", ("EAL: Detected", "EAL: Probing"), ("libmtcp", "f-stack")),
)
_SPOKEN = tuple(word.encode() for _, printed, named in _LIBRARIES for word in (*printed, *named))
# Words that an MPI log contains if such a library is in use; only a few, since every log is
# searched for them.
_HINTS = (b"VMA", b"XLIO", b"nload", b"LD_PRELOAD")


def _loaded(lines: list[str], kept: str) -> tuple[str, str]:
    """Return the library in a banner in ``lines``, and the library in an environment; the latter is
    ``kept`` until the lines contain another.
    """
    banner = ""
    for line in lines:
        for name, printed, named in _LIBRARIES:
            if any(word in line for word in named):
                kept = name
            if any(word in line for word in printed):
                banner = name
    return banner, kept


def with_context(found: list[Series], page: Page, data: bytes) -> list[Series]:
    """Return the series with notes from the lines above and within each.

    Software applies to all results after it, as does a library in an environment; a library's
    banner applies to the next result. A launch line applies to all results up to the next launch
    line; if no result separates several launch lines, none of them applies.
    """
    sockets = any(one.protocol in ("tcp", "udp") for one in found)
    names, launches, bypasses = (
        any(word in data for word in words)
        for words in (_SOFTWARE_HINTS, _LAUNCHER_HINTS, _SPOKEN if sockets else _HINTS)
    )
    if not (names or launches or bypasses):
        return found
    noted, begin, known, launch, library = list[Series](), 0, dict[str, str](), "", ""
    for one in found:
        end = max(begin, one.last_line, one.first_line)
        lines, above = page.lines[begin:end], page.lines[begin : max(begin, one.first_line)]
        begin, banner = end, ""
        if names:
            known.update(_software(lines))
        if launches:
            launch = _launch(above, launch)
        if bypasses:
            banner, library = _loaded(lines, library)
        notes = _notes(one, launch, banner or library, known)
        noted.append(msgspec.structs.replace(one, notes=notes))
    return noted


def _notes(one: Series, launch: str, library: str, known: dict[str, str]) -> list[str]:
    front = ((ONE_HOST, launch), (BYPASS, library))
    return [
        *(f"{prefix}{text}" for prefix, text in front if text),
        *one.notes,
        *(SOFTWARE + known[kind] for kind in sorted(known)),
    ]
