"""What a run discloses: network, software and method. Items that all hosts have in common appear
once.
"""

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence

from wireproof.model import quantity
from wireproof.model.claim import rails_of
from wireproof.model.record import Host, Nic
from wireproof.model.run import Run
from wireproof.model.setting import GROUPS, Audit, Disclosed, Disclosure, Group
from wireproof.report.judged_run import JudgedRun
from wireproof.report.names import natural

Found = tuple[Group, str, str, str, str]
"""Group, name, value, host ("" for the run) and why the value is unknown."""


def folded(found: Iterable[Found], hosts: Sequence[str]) -> Disclosure:
    """Return every item once for each value, with the hosts that have it."""
    values: dict[tuple[Group, str], dict[tuple[str, str], dict[str, None]]] = {}
    for group, name, value, host, why in found:
        same = values.setdefault((group, name), {}).setdefault((value, why), {})
        if host:
            same[host] = None
    everybody = sorted(set(hosts), key=natural)
    ordered = sorted(values, key=lambda key: GROUPS.index(key[0]))
    items = [
        Disclosed(group=group, name=name, value=value, hosts=_some(who, everybody), why=why)
        for group, name in ordered
        for (value, why), who in values[group, name].items()
    ]
    return Disclosure(hosts=everybody, items=items)


def _some(who: Collection[str], everybody: Sequence[str]) -> list[str]:
    """Return the hosts that have the value; empty if all have it."""
    return [] if len(who) == len(everybody) else sorted(who, key=natural)


def run_items(section: JudgedRun) -> list[Found]:
    """Return the items that the run itself provides, in reading order."""
    claimed = {claim.rank: claim.nic for claim in reversed(section.run.claim.hosts)}
    hosts = [one for host in section.run.hosts for one in (*_network(claimed, host), *_mpi(host))]
    return [*hosts, *_software(section.run), *_method(section)]


def _network(nics: Mapping[int, str], host: Host) -> list[Found]:
    """Return the claimed interfaces of a host, chosen by rank; with several rails, each by its
    name.
    """
    rails = [one for one in rails_of(nics.get(host.rank, "")) if one]
    if not rails:
        return [("network", "interface", "", host.host, "none was claimed")]
    return [one for rail in rails for one in _rail(host, rail, several=len(rails) > 1)]


def _rail(host: Host, rail: str, *, several: bool) -> list[Found]:
    from wireproof.analysis.relations import port_called  # the analysis package loads numpy

    of = f" of {rail}" if several else ""
    nic = port_called(host.nics, rail)
    if nic is None:
        return [("network", f"interface{of}", "", host.host, f"{rail} is not on this host")]
    return [
        ("network", f"{name}{of}", value, host.host, "" if value else "the host does not report it")
        for name, value in _of_nic(nic)
    ]


def _of_nic(nic: Nic) -> list[tuple[str, str]]:
    """Return names with values; "" if the host does not report the value."""
    rdma = nic.rdma
    speed = quantity.line_rate(nic.speed_mbps * 1e6) if nic.speed_mbps else ""
    found = [
        ("interface", nic.name),
        ("driver", nic.driver),
        ("MTU", str(nic.mtu) if nic.mtu else ""),
        ("rate that the interface states", speed),
        ("PCIe slot as negotiated", nic.pcie or ("" if nic.kind == "ethernet" else "none")),
        ("NUMA node of the interface", "" if nic.numa_node is None else str(nic.numa_node)),
    ]
    if rdma is not None:
        found.append(("RDMA port", f"{rdma.device}:{rdma.port}, {rdma.rate or 'rate unknown'}"))
    return found


def _mpi(host: Host) -> list[Found]:
    found = [
        ("MPI library that answered", " ".join(host.library.split())),
        ("file of the MPI library", host.library_path),
        ("cores that ranks may use", host.cpus_allowed),
    ]
    if host.fabric is not None:
        chosen = host.fabric
        text = f"{chosen.provider} {chosen.provider_version} on {chosen.domain}"
        found.append(("libfabric provider", " ".join(text.split())))
    return [("software", name, value, host.host, "") for name, value in found if value]


def _software(run: Run) -> list[Found]:
    known, link = run.provenance, run.claim.link
    variables = " ".join(f"{name}={value}" for name, value in sorted(known.environment.items()))
    said = run.open
    found: list[tuple[Group, str, str]] = [
        ("network", "link claimed", _link_of(run) if link else "none"),
        ("software", "MPI", known.mpi),
        ("software", "launcher", known.launcher),
        ("software", "transport", f"{said.transport}, ABI {said.abi}" if said else ""),
        ("software", "environment set", variables or "none"),
        ("software", "wireproof", known.wireproof),
        ("method", "command that started the ranks", shlex.join(known.argv)),
    ]
    return [(group, name, value, "", "" if value else "unknown") for group, name, value in found]


def _link_of(run: Run) -> str:
    link = run.claim.link
    if link is None:
        return "none"
    rate = quantity.line_rate(link.line_rate) if link.line_rate else "rate unknown"
    return f"{link.name}, {link.protocol}, {rate}, MTU {link.mtu or 'unknown'}"


def _method(section: JudgedRun) -> list[Found]:
    run = section.run
    batches = [len(pair.batch_ns) for point in run.points for pair in point.pairs]
    sizes = sorted({point.message_bytes for point in run.points})
    launches = len(section.records)
    found = [
        ("date", run.provenance.started),
        ("independent launches", str(launches) if launches else ""),
        ("points measured", f"{len(run.points)} ({len(run.missing)} more are missing)"),
        ("message sizes", ", ".join(quantity.size(size) for size in sizes)),
        ("samples of each result", _range(batches)),
        (
            "what is reported",
            "the median with a distribution-free 95 % interval; never the best of several",
        ),
        ("seed of the order", str(run.open.seed) if run.open else ""),
        ("clock", run.open.clock.source if run.open else ""),
    ]
    return [("method", name, value, "", "" if value else "unknown") for name, value in found]


def _range(counts: Sequence[int]) -> str:
    if not counts:
        return ""
    low, high = min(counts), max(counts)
    return quantity.counted(low, "batch", "batches") if low == high else f"{low} to {high} batches"


def setting_items(audit: Audit | None) -> list[Found]:
    """Return every setting that an audit read; for a setting that could not be read, the reason."""
    if audit is None:
        why = "the hosts' settings were not read (a check reads them; `wireproof audit` too)"
        return [("settings", "settings of the hosts", "", "", why)]
    return [
        (
            "settings",
            f"{one.id} {one.instance}".strip(),
            one.seen or ("" if one.status == "unknown" else "not set"),
            one.host,
            one.message if one.status == "unknown" and not one.seen else "",
        )
        for one in audit.results
        if one.status != "not-applicable" and not one.usual
    ]
