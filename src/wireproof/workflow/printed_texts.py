"""Sorts what people keep of commands' output, by host and by command, for ``audit --from``. Pure.

A file is named after its command in any spelling (``ethtool -g eth0.txt``, ``ethtool-g-eth0.log``).
It may hold several hosts, as pdsh, clush and ansible print them, and several interfaces.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from wireproof.model.errors import BadInput
from wireproof.settings.hosts import parse_hosts
from wireproof.workflow.ansible_facts import places_of_facts
from wireproof.workflow.supportconfig import file_called

COMMANDS = "sos_commands/any"
_ENDING = re.compile(r"\.(?:txt|out|log|json|lst|output)$")
_APART = re.compile(r"[\s_.-]+")
_PRINTS = re.compile(
    r"(dcb|df|dmidecode|ethtool|ibstat|ibv_devinfo|ip|lspci|mlxconfig|mstconfig|opainfo|perfquery"
    r"|sestatus|sysctl|systemctl|timedatectl|tuned-adm)(?:_.*)?"
)
_HOST = r"[A-Za-z0-9][\w.-]{0,252}"
_PREFIX = re.compile(rf"({_HOST}):(?: (.*)|(\s.*)?)")
_RULE = re.compile(r"-{4,80}")
_TITLE = re.compile(r"([A-Za-z0-9][\w.,\[\]-]{0,1000})(?: \(\d{1,6}\))?")
_ANSIBLE = re.compile(rf"({_HOST}) \| (?:CHANGED|SUCCESS|FAILED)!? \| rc=\d{{1,3}} >>")
_LARGEST = 256 << 20
_OF_LINE = 64
"""Memory of a line besides its letters."""

Places = dict[str, str]


def holds_places(name: str, text: str) -> bool:
    """Return whether a text of this name can hold anything that is read."""
    return next(_places(name, text), None) is not None


def places_by_host(texts: Iterable[tuple[str, str]]) -> dict[str, Places]:
    """Return what ``texts``, by file name, hold of each host: files of a root folder and outputs
    below `COMMANDS`. "" is the host of texts that name none; a single named host has those, too.
    """
    hosts: dict[str, Places] = {}
    texts = list(texts)
    known = {host for _, text in texts for host in _by_host(text) if host}
    for name, text in texts:
        for host, part in _by_host(text, known).items():
            for place, kept in _places(name, part):
                places = hosts.setdefault(host, {})
                if len(kept) > len(places.get(place, "")):
                    places[place] = kept
    if len(hosts) == 2 and "" in hosts:
        unnamed = hosts.pop("")
        (host,) = hosts
        hosts[host] = unnamed | hosts[host]
    return hosts


def _by_host(text: str, known: Collection[str] = ()) -> Mapping[str, str]:
    """Return the text of each host as pdsh, clush -b, dshbak -c or ansible mark it; else "".
    ``known``: the hosts of other texts.
    """
    lines = text.splitlines()
    return _headed(lines) or _prefixed(lines, known) or {"": text}


def _prefixed(lines: list[str], known: Collection[str]) -> dict[str, str]:
    """Return the text of each host of ``node1: text``. Outputs such as that of ``ethtool -i`` also
    begin their lines with words and colons, but each word once.
    """
    found: dict[str, list[str]] = {}
    full = [line for line in lines if line.strip()]
    for line in full:
        match = _PREFIX.fullmatch(line)
        if match is None:
            return {}
        found.setdefault(match[1], []).append(match[2] or match[3] or "")
    many = len(full) >= 2 * len(found) and min(map(len, found.values()), default=0) > 1
    if not many and not (found and known and found.keys() <= set(known)):
        return {}
    return {host: "\n".join(part) + "\n" for host, part in found.items()}


def _headed(lines: list[str]) -> dict[str, str]:
    """Return the text below each heading; a heading may name several hosts."""
    found: dict[str, list[str]] = {}
    current: list[list[str]] = []
    at = memory = 0
    while at < len(lines):
        memory += (len(lines[at]) + _OF_LINE) * len(current)
        if memory > _LARGEST:
            raise BadInput("A text names so many hosts that it would take more than 256 MiB.")
        title, size = _title(lines, at)
        if size:
            current = [found.setdefault(host, []) for host in _hosts(title)]
        elif not current and lines[at].strip():
            return {}
        else:
            for part in current:
                part.append(lines[at])
        at += max(size, 1)
    return {host: "\n".join(part) + "\n" for host, part in found.items()}


def _title(lines: list[str], at: int) -> tuple[str, int]:
    """Return the hosts that a heading at this line names, and its lines; "" and 0 if none is."""
    if ansible := _ANSIBLE.fullmatch(lines[at]):
        return ansible[1], 1
    ruled = at + 2 < len(lines) and _RULE.fullmatch(lines[at]) and _RULE.fullmatch(lines[at + 2])
    title = _TITLE.fullmatch(lines[at + 1].strip()) if ruled else None
    return (title[1], 3) if title else ("", 0)


def _hosts(title: str) -> tuple[str, ...]:
    try:
        return parse_hosts(title)
    except BadInput:
        return ()


_HEADING = re.compile(
    r"^(Features|Ring parameters|Channel parameters|Coalesce parameters|Pause parameters"
    r"|FEC parameters|Settings) for ([\w.@:-]{1,15}):$",
    re.MULTILINE,
)
_OPTIONS = {
    "Features": "-k_", "Ring parameters": "-g_", "Channel parameters": "-l_", "Settings": "",
    "Coalesce parameters": "-c_", "Pause parameters": "-a_", "FEC parameters": "--show-fec_",
}  # fmt: skip
_ETHTOOL = re.compile(r"ethtool[\s_.-]+(?:-{0,2}([a-zA-Z])[\s_.-]+)?([\w.@:-]{1,15})")
_COUNTERS = re.compile(
    r"perfquery[\s_.-].*?((?:mlx|hfi|qib|ib|ro)[a-z0-9]*?_?\d{1,3})[\s_.-]+(?:-?P[\s_.-]*)?(\d{1,3})"
)
_WHOLE = {
    "sysctl": "sysctl_-a", "lspci": "lspci_-nnvv", "ibstat": "ibstat", "dmidecode": "dmidecode",
    "sestatus": "sestatus", "opainfo": "opainfo", "lscpu": "lscpu",
}  # fmt: skip
"""Commands about the whole host: options hardly change what is read of them."""
_FILES = {
    "cpuinfo": "proc/cpuinfo", "meminfo": "proc/meminfo", "cmdline": "proc/cmdline",
    "modules": "proc/modules", "lsmod": "proc/modules", "interrupts": "proc/interrupts",
    "os release": "etc/os-release", "limits": "proc/self/limits",
}  # fmt: skip
"""Files that people print, by their words."""


def _places(name: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield the places that a text of this name fills."""
    called = _ENDING.sub("", name)
    words = [word for word in _APART.split(called) if word]
    first = words[0].lower() if words else ""
    if text.startswith("{") and '"ansible_facts"' in text:
        yield from places_of_facts(text)
    elif first == "ethtool":
        yield from _of_ethtool(called, text)
    elif first == "uname" and (release := re.search(r"\b\d{1,2}\.\d{1,3}\.\d\S*", text)):
        yield "proc/version", f"Linux version {release[0]}\n"
    elif file := _FILES.get(" ".join(w for w in words if w not in ("cat", "proc", "etc", "self"))):
        yield file, text
    elif command := _command(called, words):
        yield f"{COMMANDS}/{command}", text


def _command(called: str, words: list[str]) -> str:
    """Return sos's name of the command that a file is called after; "" if it prints nothing that
    is read.
    """
    first, rest = (words[0], words[1:]) if words else ("", [])
    if whole := _WHOLE.get(first):
        return whole
    if first == "ibv" and rest[:1] == ["devinfo"]:
        return "ibv_devinfo_-v"
    if first == "ip" and {"a", "addr", "address"}.intersection(rest):
        return "ip_-d_address"
    if first == "ip" and {"r", "route"}.intersection(rest):
        return "ip_route_show_table_all"
    if first == "timedatectl" and "show" not in rest:
        return first
    if first == "tuned" and rest[:1] == ["adm"]:
        return "tuned-adm_active"
    if counters := _COUNTERS.fullmatch(called):
        return f"perfquery_-C_{counters[1]}_-P_{counters[2]}"
    name = file_called(called.split())
    return name if _PRINTS.fullmatch(name) else ""


def _of_ethtool(called: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield each section of ethtool's output; outputs without a heading belong to the interface of
    the file's name.
    """
    heads = list(_HEADING.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    for head, end in zip(heads, ends, strict=False):  # without headings there is still an end
        part = text[head.start() : end]
        yield f"{COMMANDS}/ethtool_{_OPTIONS[head[1]]}{head[2]}", part
        if "uncorrectable_blocks" in part:
            yield f"{COMMANDS}/ethtool_-I_--show-fec_{head[2]}", part
    named = _ETHTOOL.fullmatch(called)
    if named and not heads:
        option = f"-{named[1]}_" if named[1] else ""
        yield f"{COMMANDS}/ethtool_{option}{named[2]}", text
