"""Which settings of UCX, libfabric and Intel MPI were actually in force, from the output of these
libraries. ``wireproof.adapters.psm3.readback`` reads PSM3's. Nothing is guessed.
"""

import re
from collections.abc import Iterable, Iterator

from wireproof.model.psm3 import Kind, Seen
from wireproof.model.secrets import masked

# --- Intel MPI: what ranks print with ``I_MPI_DEBUG=5`` or more (2021.18 compared), and the table
# of ``impi_info -e``.

# --- Settings seen in a library's log.

_LONGEST = 300


def seen_at(
    setting: str, value: str, kind: Kind, where: tuple[int, str], source: str, who: str = ""
) -> Seen:
    """Return one setting at ``where``: line number, from 1, and line. Anything that looks secret is
    masked.
    """
    number, line = where
    text = masked(f"{setting}={value.strip()}").removeprefix(f"{setting}=")
    return Seen(
        setting=setting,
        value=text[:_LONGEST],
        kind=kind,
        line=masked(line.strip())[:_LONGEST],
        number=number,
        source=source,
        who=who,
    )


def once(found: Iterable[Seen]) -> list[Seen]:
    """Return each setting and value once, from its first line, because ranks repeat each other."""
    unique: dict[tuple[str, str, Kind], Seen] = {}
    for one in found:
        unique.setdefault((one.setting, one.value, one.kind), one)
    return list(unique.values())


_SAID = re.compile(
    r"^\[(?P<rank>\d{1,7})(?:#[^\]]{0,80})?\] MPI startup\(\): (?P<said>.{1,1000})$", re.A
)
_FACTS = {
    "version": re.compile(r"Intel\(R\) MPI Library, Version (?P<value>\S{1,60})"),
    "libfabric": re.compile(r"libfabric version: (?P<value>\S{1,60})"),
    "I_MPI_OFI_PROVIDER": re.compile(r"libfabric provider: (?P<value>\S{1,60})"),
    "I_MPI_TUNING_BIN": re.compile(r'Load tuning file: "(?P<value>[^"]{1,400})"'),
    "nics": re.compile(r"Number of NICs: +(?P<value>\d{1,6})"),
}
_VARIABLE = re.compile(r"(?P<name>I_MPI_[A-Z0-9_]{1,80})=(?P<value>.{0,400})$", re.A)
_TABLE = re.compile(r"=+ (?P<what>NIC|CPU) pinning", re.A)
_NIC_ROW = re.compile(r"(?P<rank>\d{1,7}) +\d{1,4} +(?P<nic>\S{1,120}) *$", re.A)
_DEFAULT = re.compile(
    r"^ *\| (?P<name>I_MPI_[A-Z0-9_]{1,80}) +\| (?P<value>.*?) +\| [A-Z_]{1,40} +\|", re.A
)


def intelmpi_readback(text: str) -> list[Seen]:
    """Return the provider, the tuning file that was found, the NIC of each rank (``observed``), and
    the variables that the library lists (``given``: a copy of what it was started with).
    """
    return once(_said(text))


def _said(text: str) -> Iterator[Seen]:
    table = ""
    for where in enumerate(text.split("\n"), 1):
        line = _SAID.match(where[1])
        if line is None:
            continue
        said, who = line["said"], f"rank {line['rank']}"
        if heading := _TABLE.match(said):
            table = heading["what"]
        elif (row := _NIC_ROW.match(said)) and table == "NIC":
            yield seen_at("nic", row["nic"], "observed", where, "intelmpi", f"rank {row['rank']}")
        elif one := _VARIABLE.match(said):
            yield seen_at(one["name"], one["value"], "given", where, "intelmpi", who)
        else:
            for name, form in _FACTS.items():
                fact = form.match(said)
                # A tuning file is named before the library looks for it.
                if fact is not None and not (name == "I_MPI_TUNING_BIN" and _absent(text, fact)):
                    yield seen_at(name, fact["value"], "observed", where, "intelmpi", who)


def _absent(text: str, fact: re.Match[str]) -> bool:
    return f'File "{fact["value"]}" not found' in text


def intelmpi_defaults(text: str) -> dict[str, str]:
    """Return the default of each variable that ``impi_info -e`` lists, "" for ``not defined``. It
    shows what this release knows, not what is in force.
    """
    found = {one["name"]: one["value"] for one in map(_DEFAULT.match, text.split("\n")) if one}
    return {name: "" if value == "not defined" else value for name, value in found.items()}


# --- libfabric: ``FI_LOG_LEVEL=info`` (1.17 and 2.4 compared).

_LINE = re.compile(
    r"libfabric:(?P<pid>\d{1,10}):\d{1,20}:[^:]{0,40}:(?P<provider>[A-Za-z0-9_;.-]{1,40}):"
    r"[^:]{1,40}:[^<]{1,200}<(?:info|warn|trace|debug)> (?P<said>.{1,1000})$",
    re.A,
)
_READ = re.compile(r"read \w+ var (?P<name>[A-Za-z0-9_]{1,80})=(?P<value>.{0,400})$", re.A)
_USING = re.compile(
    r"Using (?P<name>[A-Za-z0-9_;.-]{1,60}) provider (?P<version>[\d.]{1,20}), path:(?P<path>.*)$"
)
_CORE = "core"


def libfabric_readback(text: str) -> list[Seen]:
    """Return variables that were read (``taken``), and the provider whose fabric was opened
    (``observed``).

    This library may not know a variable that no line reports as read.
    """
    return once(seen for where in enumerate(text.split("\n"), 1) for seen in _of_line(where))


def _of_line(where: tuple[int, str]) -> Iterator[Seen]:
    line = _LINE.search(where[1])
    if line is None:
        return
    who = f"pid {line['pid']}"
    if one := _READ.match(line["said"]):
        of = line["provider"]
        prefix = "FI_" if of == _CORE else f"FI_{of.upper()}_"
        yield seen_at(f"{prefix}{one['name'].upper()}", one["value"], "taken", where, of, who)
    elif one := _USING.match(line["said"]):
        yield seen_at("FI_PROVIDER", one["name"], "observed", where, _CORE, who)
        yield seen_at("provider version", one["version"], "observed", where, _CORE, who)
        yield seen_at("library", one["path"], "observed", where, _CORE, who)


# --- UCX: ``UCX_LOG_LEVEL=info`` (1.13 compared; the formats of 1.14 and later follow ucp_worker.c)
# and ``ucx_info -c``.

_WHO = re.compile(r"^\s*\[[\d.]{1,40}\] \[(?P<who>[^\]\s]{1,120})\]", re.A)
_VERSION = re.compile(
    r"UCX  INFO +Version (?P<version>\S{1,40}) \(loaded from (?P<path>[^)]{1,300})\)"
)
_ENVIRONMENT = re.compile(r"UCX  INFO +UCX_\* env(?:ironment)? variables?: (?P<all>.{1,4000})$")
_UNUSED = re.compile(r"UCX  WARN +unused env(?:ironment)? variables?: (?P<all>[^(]{1,2000})")
_LANES = re.compile(
    r"UCX  INFO .*?cfg(?:\[|#)(?P<number>\d{1,6})\]?:? (?P<lanes>[a-z_]+\(.{1,2000})$"
)
_LANE = re.compile(r"(?P<transport>[a-z][a-z0-9_]{1,20})/(?P<device>[^\s()/]{1,60})")
_CONFIGURED = re.compile(r"^(?P<name>UCX_[A-Z0-9_]{1,80})=(?P<value>.{0,400})$")


def ucx_readback(text: str) -> list[Seen]:
    """Return the settings seen. ``UCX_TLS`` and ``UCX_NET_DEVICES`` list what endpoints use
    (``observed``); lines of ``ucx_info -c`` show the configuration (``taken``).
    """
    found: list[Seen] = []
    transports: dict[str, tuple[int, str]] = {}
    devices: dict[str, tuple[int, str]] = {}
    for where in enumerate(text.split("\n"), 1):
        found += _of_ucx_line(where)
        if lanes := _LANES.search(where[1]):
            for lane in _LANE.finditer(lanes["lanes"]):
                transports.setdefault(lane["transport"], where)
                devices.setdefault(lane["device"], where)
    for setting, names in (("UCX_TLS", transports), ("UCX_NET_DEVICES", devices)):
        if names:
            first = next(iter(names.values()))
            value = ",".join(sorted(names))
            found.append(seen_at(setting, value, "observed", first, "ucx"))
    return once(found)


def _of_ucx_line(where: tuple[int, str]) -> Iterator[Seen]:
    line = where[1]
    label = _WHO.match(line)
    who = label["who"] if label else ""
    if one := _CONFIGURED.match(line):
        yield seen_at(one["name"], one["value"], "taken", where, "ucx_info")
    elif one := _VERSION.search(line):
        yield seen_at("version", one["version"], "observed", where, "ucx", who)
        yield seen_at("library", one["path"], "observed", where, "ucx", who)
    elif one := _ENVIRONMENT.search(line):
        for word in one["all"].split():
            name, equals, value = word.partition("=")
            if equals and name.startswith("UCX_"):
                yield seen_at(name, value, "given", where, "ucx", who)
    elif one := _UNUSED.search(line):
        for name in re.findall(r"UCX_[A-Z0-9_]{1,80}", one["all"]):
            yield seen_at(name, "unused", "observed", where, "ucx", who)
