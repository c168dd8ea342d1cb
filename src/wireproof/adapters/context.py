"""What a log says around its results: the software, a launch on one host, a library that bypasses
the kernel's sockets.
"""

import re
from collections.abc import Iterator

import msgspec

from wireproof.adapters.page import Page
from wireproof.model.series import BYPASS, ONE_HOST, SOFTWARE, Series

# --- The software that a log names: the MPI, the system and its kernel. A banner, or the output of
# `uname -a`, `mpirun --version` or `cat /etc/os-release`, holds for all results after it.

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
    """Yield the kind and the name of all software that the lines name."""
    for line in lines:
        for kind, word, name, pattern in _SIGNS:
            found = pattern.search(line[:400]) if word in line else None
            if found is not None:
                yield kind, f"{name} {found.group(1)}".strip()


# --- A launch line that places all ranks on one host: nothing that it starts meets a wire. Servers
# and clients are launched apart, so only programs that an MPI starts count.

_LAUNCHERS = ("srun", "mpirun", "mpiexec", "mpiexec.hydra")
_PROGRAM = re.compile(r"(?:^|/)(?:osu_[a-z]\w{1,40}|IMB-\w{3,8}|hpcc|mpiGraph)$")
_ONE_NODE = re.compile(r"(?:^| )(-N ?1|--nodes[= ]1)(?= |$)")  # of srun: Open MPI's -N is a count
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
# hold.

# (library, what it prints when a program starts, what names it in an environment or a command line)
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
    """Return the library that a banner in ``lines`` names, and the one that an environment names,
    which stays ``kept`` until another is named.
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

    Software holds for all results after it, and so does a library named in an environment; a
    library's banner holds for the next result. A launch line holds for all results up to the next;
    of several without a result between them, none.
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
