"""The disclosure of a run: the origin of its numbers (MPI, engine, clock, command, placement),
points that could not be measured, and network, software and method of its hosts. Items that all
hosts have in common appear once.
"""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence

from wireproof.model import gathered, quantity
from wireproof.model.claim import rails_of
from wireproof.model.record import Host, Nic
from wireproof.model.run import Run
from wireproof.model.setting import GROUPS, Audit, Disclosed, Disclosure, Group
from wireproof.report.judged_run import JudgedRun
from wireproof.report.names import clean, fold, natural

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
        Disclosed(
            group=group,
            name=name,
            value=value,
            hosts=[] if len(who) == len(everybody) else sorted(who, key=natural),
            why=why,
        )
        for group, name in ordered
        for (value, why), who in values[group, name].items()
    ]
    return Disclosure(hosts=everybody, items=items)


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
    # importing the analysis package would load numpy
    from wireproof.ledger.relations import port_called

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
        ("rate that the interface reports", speed),
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
        why = "the hosts' settings were not read (a check or `wireproof audit` reads them)"
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


# --- Where the numbers come from.

Fact = tuple[str, str]
"""Name and value."""

MOST_LINES = 40
MOST_PLACES = 64


def trouble(section: JudgedRun) -> list[str]:
    """Return the planned points that are missing, each with the observed reason, and the errors
    that the engine reported.
    """
    run = section.run
    missing = sorted(run.missing.items())
    lines = [
        f"point {point} is missing: {clean(str(reason), 300)}"
        for point, reason in missing[:MOST_LINES]
    ]
    if len(missing) > MOST_LINES:
        lines.append(f"and {len(missing) - MOST_LINES} more missing points")
    for error in run.errors[:MOST_LINES]:
        where = f" (point {error.id})" if error.id is not None else ""
        where += f" (rank {error.rank})" if error.rank is not None else ""
        lines.append(f"{clean(error.code, 40)}: {clean(error.message, 300)}{where}")
    return lines


def facts(section: JudgedRun) -> list[Fact]:
    """Return provenance as names and values: the request, the library that answered, and the start
    command.
    """
    run, known = section.run, section.run.provenance
    environment: list[Fact] = [
        ("environment set", clean(f"{name}={value}", 500))
        for name, value in sorted(known.environment.items())
    ]
    return [
        ("MPI", clean(known.mpi)),
        *_libraries(run),
        ("engine", clean(known.engine)),
        *_engine(run),
        ("launcher", clean(known.launcher)),
        ("started", clean(known.started)),
        ("command", clean(shlex.join(known.argv), 2000)),
        *environment,
        *_claim(run),
        ("wireproof", clean(known.wireproof)),
        *[("note", clean(note)) for note in known.notes],
    ]


def _libraries(run: Run) -> Iterator[Fact]:
    """Yield each MPI library that answered, with its hosts; two libraries in one run would be a
    finding.
    """
    found = gathered(
        ((host.library, host.library_path), host.hostname or host.host) for host in run.hosts
    )
    for (library, path), hosts in found.items():
        yield "library that answered", clean(f"{library or 'none'} on {fold(hosts)}")
        if path:
            yield "its file", clean(path)


def _engine(run: Run) -> list[Fact]:
    floors = ", ".join(
        f"{floor.pattern} {floor.form} {floor.floor_ns:.3g} ns" for floor in run.floors
    )
    lines: list[Fact] = [("harness floor", floors or "unknown")]
    if run.open is None:
        return [("engine", "no report: it did not open its transport"), *lines]
    said, clock = run.open, run.open.clock
    costs = f"quantum {clock.quantum_ns:.3g} ns, one read costs {clock.read_cost_ns:.3g} ns"
    return [
        ("engine", clean(f"{said.engine}, ABI {said.abi}, transport {said.transport}")),
        ("clock", f"{clock.source}, {costs}"),
        ("run, seed of the order", clean(f"{said.run_id}, {said.seed}")),
        *lines,
    ]


def _claim(run: Run) -> list[Fact]:
    nodes: Fact = (
        "nodes are",
        "virtual: a lab on one machine" if run.claim.virtual else "as found",
    )
    link = run.claim.link
    if link is None:
        return [("link claimed", "none"), nodes]
    text = (
        f"{link.name}, {link.protocol}, {quantity.line_rate(link.line_rate)}, MTU "
        f"{link.mtu or 'unknown'}"
    )
    return [("link claimed", clean(f"{text} ({link.source or 'source unknown'})")), nodes]


def places(section: JudgedRun) -> list[tuple[str, ...]]:
    """Return the actual placement as the engine found it, one row per rank: rank, claimed host,
    actual host, core, NIC, network and IPC namespace, ranks that share memory.
    """
    claims = {claim.rank: claim for claim in section.run.claim.hosts}
    return [
        (
            str(host.rank),
            clean(claims[host.rank].host if host.rank in claims else host.host, 80),
            clean(host.hostname, 80),
            "any" if host.core is None else str(host.core),
            _nic(host, claims[host.rank].nic if host.rank in claims else ""),
            f"{host.netns or '?'}, {host.ipcns or '?'}",
            "unknown" if host.shared_ranks is None else str(host.shared_ranks),
        )
        for host in section.run.hosts[:MOST_PLACES]
    ]


def _nic(host: Host, claimed: str) -> str:
    if not claimed:
        return "none claimed"
    return "; ".join(_one_nic(host, name) for name in rails_of(claimed)[:8])


def _one_nic(host: Host, name: str) -> str:
    from wireproof.ledger.relations import port_called  # the analysis package loads numpy

    nic = port_called(host.nics, name)
    if nic is None:
        return clean(f"{name} (not on this host)", 80)
    return clean(f"{nic.name}, {nic.driver or 'driver unknown'}, MTU {nic.mtu or 'unknown'}", 80)
