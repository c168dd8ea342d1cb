"""Sort the output of commands that people store, by host and by command, for ``audit --from``.
Pure.

A file is named after its command in any spelling (``ethtool -g eth0.txt``, ``ethtool-g-eth0.log``).
It may contain several hosts, as pdsh, clush and ansible print them, and several interfaces.
"""

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from wireproof.audit.facts import sections
from wireproof.model.errors import BadInput
from wireproof.options.hosts import parse_hosts

COMMANDS = "sos_commands/any"
_UNLIKE = re.compile(r"[^\w\-./]+")
"""Characters that sos replaces by ``_``."""
_ENDING = re.compile(r"\.(?:txt|out|log|json|lst|output)$")
_APART = re.compile(r"[\s_.-]+")
_PRINTS = re.compile(
    r"(chronyc|dcb|df|dmidecode|ethtool|ibstat|ibv_devinfo|ip|lspci|mlnx_qos|mlxconfig|mstconfig"
    r"|opainfo|perfquery|sestatus|sysctl|systemctl|timedatectl|tuned-adm)(?:_.*)?"
)
_HOST = r"[A-Za-z0-9][\w.-]{0,252}"
_PREFIX = re.compile(rf"({_HOST}):(?: (.*)|(\s.*)?)")
_RULE = re.compile(r"-{4,80}")
_TITLE = re.compile(r"([A-Za-z0-9][\w.,\[\]-]{0,1000})(?: \(\d{1,6}\))?")
_ANSIBLE = re.compile(rf"({_HOST}) \| (?:CHANGED|SUCCESS|FAILED)!? \| rc=\d{{1,3}} >>")
_LARGEST = 256 << 20
_LONGEST_NAME = 200
_OF_LINE = 64
"""Memory in bytes that a line occupies in addition to its characters."""

Places = dict[str, str]


def holds_places(name: str, text: str) -> bool:
    """Return whether a file with this name can contain a fact that the audit reads."""
    return next(places(name, text), None) is not None


def places_by_host(texts: Iterable[tuple[str, str]]) -> dict[str, Places]:
    """Return the contents of ``texts`` (by file name) by host: files of a root folder, and outputs
    below `COMMANDS`. Texts without a host have the host ""; if only one host occurs, they belong to
    that host.
    """
    hosts: dict[str, Places] = {}
    texts = list(texts)
    known = {host for _, text in texts for host in _by_host(text) if host}
    for name, text in texts:
        for host, part in _by_host(text, known).items():
            for place, kept in places(name, part):
                mine = hosts.setdefault(host, {})
                if len(kept) > len(mine.get(place, "")):
                    mine[place] = kept
    if len(hosts) == 2 and "" in hosts:
        unnamed = hosts.pop("")
        (host,) = hosts
        hosts[host] = unnamed | hosts[host]
    return hosts


def _by_host(text: str, known: Collection[str] = ()) -> Mapping[str, str]:
    """Return the text of each host as marked by pdsh, clush -b, dshbak -c or ansible; "" is the
    host of unmarked text. ``known``: the hosts of other texts.
    """
    lines = text.splitlines()
    return _headed(lines) or _prefixed(lines, known) or {"": text}


def _prefixed(lines: list[str], known: Collection[str]) -> dict[str, str]:
    """Return the text of each host from lines such as ``node1: text``. Lines of commands such as
    ``ethtool -i`` also begin with a word and a colon, but each word occurs once.
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
    """Return the text below each heading; a heading may list several hosts."""
    found: dict[str, list[str]] = {}
    current: list[list[str]] = []
    at = memory = 0
    while at < len(lines):
        memory += (len(lines[at]) + _OF_LINE) * len(current)
        if memory > _LARGEST:
            raise BadInput("A text lists so many hosts that it would occupy more than 256 MiB.")
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
    """Return the hosts in a heading at this line and the number of its lines; "" and 0 if it is not
    a heading.
    """
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
_FIRMWARE = re.compile(
    r"(mlxconfig|mstconfig)[\W_].*?(?:([0-9a-f]{4})[:_.-])?([0-9a-f]{2})[:_.-]([0-9a-f]{2}\.[0-7])"
    r"[\W_].*"
)
"""A query of an adapter's firmware by its PCI address."""
_WHOLE = {
    "sysctl": "sysctl_-a", "lspci": "lspci_-nnvv", "ibstat": "ibstat", "dmidecode": "dmidecode",
    "sestatus": "sestatus", "opainfo": "opainfo", "lscpu": "lscpu",
    "numactl": "numactl_--hardware",
}  # fmt: skip
"""Commands about the whole host, whose options hardly affect the facts that are read from their
output.
"""
_PAIRS: dict[tuple[str, ...], str] = {
    ("ibv", "devinfo"): "ibv_devinfo_-v",
    ("tuned", "adm"): "tuned-adm_active",
}
_FILES = {
    "cpuinfo": "proc/cpuinfo", "meminfo": "proc/meminfo", "cmdline": "proc/cmdline",
    "modules": "proc/modules", "lsmod": "proc/modules", "interrupts": "proc/interrupts",
    "os release": "etc/os-release", "limits": "proc/self/limits", "hostname": "etc/hostname",
    "limits conf": "etc/security/limits.conf", "slurm conf": "etc/slurm/slurm.conf",
    "irqbalance": "etc/sysconfig/irqbalance",
}  # fmt: skip
"""Files that people print: the words of a path, and the path."""
_GREPPED = re.compile(
    r"^/((?:sys/(?:module|class|devices/system|kernel)|proc/sys)(?:/(?!\.)[\w.-]{1,64}){1,10}):(.*)$",
    re.MULTILINE,
)
"""A line of ``grep . /sys/module/hfi1/parameters/*``."""
_MOST_GREPPED = 10_000


def file_called(words: Sequence[str]) -> str:
    """Return the name that sos gives to the file with a command's output."""
    return _UNLIKE.sub("_", " ".join(words)).replace("/", ".")


def places(name: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield the files and outputs that a text with this name provides."""
    called = _ENDING.sub("", name)
    words = [word for word in _APART.split(called) if word]
    first = words[0].lower() if words else ""
    if text.startswith("{") and '"ansible_facts"' in text:
        yield from _of_facts(text)
    elif text.startswith(("/sys/", "/proc/")):
        lines = itertools.islice(_GREPPED.finditer(text), _MOST_GREPPED)
        yield from ((line[1], f"{line[2]}\n") for line in lines)
    elif first == "ethtool":
        yield from _of_ethtool(called, text)
    elif first == "uname" and (release := re.search(r"\b\d{1,2}\.\d{1,3}\.\d\S*", text)):
        yield "proc/version", f"Linux version {release[0]}\n"
    elif file := _FILES.get(" ".join(w for w in words if w not in ("cat", "proc", "etc", "self"))):
        yield file, text
    elif command := _command(called, words):
        yield f"{COMMANDS}/{command}", text


def _command(called: str, words: list[str]) -> str:
    """Return sos's name for the command after which a file is named; "" if the audit does not read
    that command's output.
    """
    first, rest = (words[0], words[1:]) if words else ("", [])
    if whole := _WHOLE.get(first):
        return whole
    if pair := _PAIRS.get((first, *rest[:1])):
        return pair
    return _command_of_words(first, rest) or _command_of_ports(called)


def _command_of_words(first: str, rest: list[str]) -> str:
    if first == "cpupower" and "frequency" in rest:
        return "cpupower_frequency-info"
    if first == "ip" and {"a", "addr", "address"}.intersection(rest):
        return "ip_-d_address"
    if first == "ip" and {"r", "route"}.intersection(rest) and "6" not in rest:
        return "ip_route_show_table_all"
    return first if first == "timedatectl" and "show" not in rest else ""


def _command_of_ports(called: str) -> str:
    """Return the name of a command about a port or an adapter, or of any other command whose output
    is read.
    """
    if counters := _COUNTERS.fullmatch(called):
        return f"perfquery_-C_{counters[1]}_-P_{counters[2]}"
    if query := _FIRMWARE.fullmatch(called):
        return f"{query[1]}_-d_{query[2] or '0000'}_{query[3]}_{query[4]}_-e_q"
    name = file_called(called.split())
    return name if _PRINTS.fullmatch(name) and len(name) <= _LONGEST_NAME else ""


def _of_ethtool(called: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield each section of ethtool's output; outputs without a heading belong to the interface of
    the file's name.
    """
    heads = list(sections(_HEADING, text))
    for head, body in heads:
        part = head[0] + body
        yield f"{COMMANDS}/ethtool_{_OPTIONS[head[1]]}{head[2]}", part
        if "uncorrectable_blocks" in part:
            yield f"{COMMANDS}/ethtool_-I_--show-fec_{head[2]}", part
    named = _ETHTOOL.fullmatch(called)
    if named and not heads:
        option = f"-{named[1]}_" if named[1] else ""
        yield f"{COMMANDS}/ethtool_{option}{named[2]}", text


# --- The facts of a host that ansible gathered (``ansible -m setup --tree FOLDER``).

_NIC = re.compile(r"[\w.@:-]{1,15}")
_NIC_ADDRESS = re.compile(r"[\w.:-]{1,64}")


def _of_facts(text: str) -> Iterator[tuple[str, str]]:
    """Yield the files and outputs that correspond to the facts; nothing if the text is not JSON."""
    try:
        facts = msgspec.json.decode(text, type=dict[str, Any]).get("ansible_facts")
    except (msgspec.MsgspecError, RecursionError):
        return
    if not isinstance(facts, dict):
        return
    known = {str(key).removeprefix("ansible_"): value for key, value in facts.items()}
    yield from ((place, f"{line}\n") for place, line in _of_host(known) if line)
    listed = known.get("interfaces")
    for nic in listed if isinstance(listed, list) else ():
        name = str(nic)
        fact = known.get(re.sub(r"[.:-]", "_", name))
        if _NIC.fullmatch(name) and isinstance(fact, dict):
            yield from _of_nic(name, fact)


def _of_host(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    def text(name: str) -> str:
        value = facts.get(name)
        return " ".join(str(value).split()) if isinstance(value, (str, int, float)) else ""

    yield "etc/hostname", text("hostname")
    yield "proc/version", f"Linux version {text('kernel')}" if text("kernel") else ""
    yield "etc/os-release", _release(text("distribution"), text("distribution_version"))
    yield "proc/cmdline", _arguments(facts.get("cmdline"))
    yield "proc/meminfo", _memory(facts)
    yield "proc/cpuinfo", _processor(facts)
    for name in ("bios_version", "bios_date", "product_name"):
        yield f"sys/class/dmi/id/{name}", text(name)
    yield "sys/class/dmi/id/sys_vendor", text("system_vendor")
    selinux = facts.get("selinux")
    mode = selinux.get("mode") if isinstance(selinux, dict) else None
    yield "sys/fs/selinux/enforce", {"enforcing": "1", "permissive": "0"}.get(str(mode), "")


def _release(name: str, version: str) -> str:
    word = {"redhat": "rhel", "oraclelinux": "ol"}.get(name.lower(), name.lower())
    return f'ID="{word}"\nVERSION_ID="{version}"' if re.fullmatch(r"\w+", word) else ""


def _arguments(arguments: Any) -> str:
    if not isinstance(arguments, dict):
        return ""
    return " ".join(
        str(name) if value is True else f"{name}={value}" for name, value in arguments.items()
    )


def _memory(facts: dict[str, Any]) -> str:
    rows = (("MemTotal", "memtotal_mb"), ("SwapTotal", "swaptotal_mb"))
    values = ((name, facts.get(key)) for name, key in rows)
    return "\n".join(f"{name}: {value * 1024} kB" for name, value in values
                     if isinstance(value, int))  # fmt: skip


def _processor(facts: dict[str, Any]) -> str:
    """Return the manufacturer, and whether the machine is a guest. The list contains number,
    manufacturer and model.
    """
    listed = facts.get("processor")
    if not isinstance(listed, list):
        return ""
    maker = next((str(one) for one in listed if str(one) in ("GenuineIntel", "AuthenticAMD")), "")
    guest = " hypervisor" if facts.get("virtualization_role") == "guest" else ""
    lines = ["processor\t: 0", f"vendor_id\t: {maker}" if maker else "", f"flags\t\t: fpu{guest}"]
    return "\n".join(filter(None, lines))


def _of_nic(name: str, fact: dict[str, Any]) -> Iterator[tuple[str, str]]:
    folder = f"sys/class/net/{name}"
    mtu, speed, active = (fact.get(key) for key in ("mtu", "speed", "active"))
    if isinstance(mtu, int):
        yield f"{folder}/mtu", f"{mtu}\n"
    if isinstance(speed, int) and speed:
        yield f"{folder}/speed", f"{speed}\n"
    if isinstance(active, bool):
        yield f"{folder}/operstate", "up\n" if active else "down\n"
    driver, pci = fact.get("module"), fact.get("pciid")
    if isinstance(driver, str) and re.fullmatch(r"\w{1,32}", driver):
        slot = f"bus-info: {pci}\n" if isinstance(pci, str) and _NIC_ADDRESS.fullmatch(pci) else ""
        yield f"{COMMANDS}/ethtool_-i_{name}", f"driver: {driver}\n{slot}"
    features = fact.get("features")
    if isinstance(features, dict):
        rows = (f"{str(key).replace('_', '-')}: {value}\n" for key, value in features.items())
        yield f"{COMMANDS}/ethtool_-k_{name}", f"Features for {name}:\n" + "".join(rows)
