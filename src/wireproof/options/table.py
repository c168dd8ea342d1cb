"""The table of options: each option is a row, from which everything that names the option derives.

That is the parameter of the command line, the variable ``WIREPROOF_NAME`` and the key of the file
(for rows with a parser), the field that the program reads, the keyword in Python, the groups of
``--help``, and the documentation. To add an option, add a row here and read ``options.NAME``.
"""

from __future__ import annotations

# ruff: noqa: RUF009  (a row is a field of the dataclass)
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from wireproof.options.hosts import check_nics, parse_hosts
from wireproof.options.row import (
    OptionRow,
    Origins,
    absolute,
    choice,
    library,
    of_job,
    one_of,
    path,
    plain,
    provider,
    row,
    whole,
    yes_no,
)
from wireproof.options.sizes import parse_duration, parse_sizes

if TYPE_CHECKING:
    from wireproof.model.pattern import Form
    from wireproof.model.plan import Completion, Exchange, Formula, Messages, TransportKind


Profile = Literal["quick", "standard", "acceptance"]
MPI_NAMES = ("", "mpich", "intel", "openmpi", "debian-mpich")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options(Origins):
    """All options of the table, typed. ``None`` and empty mean not given: the subcommand decides.
    ``alone``: a single host is enough.
    """

    profile: Profile = choice(
        "check",
        "quick|standard|acceptance",
        "amount of measurement; default quick",
        "quick",
        first=True,
        stored=True,
    )
    repeat: int = row(
        "check",
        "N",
        "number of measurements of each point in a launch; default 1",
        1,
        parse=whole(1, 1000),
        stored=True,
    )
    topology: Path | None = row(
        "check",
        "FILE",
        "file that lists the switch of each node: topology.conf, ibnetdiscover, "
        "opareport, lldpctl or TOML",
        path="new",
        first=True,
        stored=True,
    )
    rounds: int | None = row(
        "check",
        "N",
        "rounds of pairs; default: all up to 64 hosts, 12 to 20 above",
        between=(1, 100_000),
        stored=True,
    )
    all_pairs: bool = row("check", "", "every pair, however many hosts", False, stored=True)
    criteria: Path | None = row(
        "check",
        "FILE",
        "agreed thresholds (TOML), instead of the defaults",
        path="must exist",
        first=True,
        stored=True,
    )
    sign: str = row(
        "check", "KEY", "file of the SSH key that signs the dossier of --profile acceptance", ""
    )
    no_audit: bool = row("check", "", "do not read the hosts' settings", False)
    dry_run: bool = row(
        "check", "", "print every command and script, and start nothing", False, first=True
    )
    prolog: bool = row(
        "check", "", "health check before a job: one line, at most 50 s, nothing changed", False
    )
    least_proven: int | None = row(
        "check",
        "N",
        "check only the N hosts that were checked longest ago (according to --history)",
        between=(2, 100_000),
    )
    dialect: str = row(
        "check",
        "nagios|nhc|slurm|...",
        "with --prolog: output line and exit status, as for `gate`",
        "",
        complete="dialects",
    )
    model: str | None = row("check", "NAME=N,...", "world of the model transport", stored=True)
    model_fault: tuple[str, ...] = row(
        "check", "rank=N,tx=SHARE", "a fault injected into that world", (), stored=True
    )
    hosts: tuple[str, ...] = row(
        "target",
        "N1,N2|N[1-4]",
        "hosts, one rank each: n1,n2 or n[1-4]",
        (),
        parse=parse_hosts,
        complete="hosts",
        first=True,
        stored=True,
    )
    mpi: str = row(
        "target",
        "PATH|NAME",
        f"MPI: a path, or {', '.join(MPI_NAMES[1:])}",
        "",
        parse=plain,
        names=MPI_NAMES,
        first=True,
        stored=True,
    )
    transport: TransportKind = row(
        "target",
        "mpi|tcp|ofi|null|model",
        "transport of the messages",
        "mpi",
        parse=one_of("null", "model", "mpi", "tcp", "ofi"),
        first=True,
        stored=True,
    )
    provider: str = row(
        "target",
        "tcp|shm|psm3|...",
        "libfabric's provider, for the transport ofi: tcp, shm, psm3, verbs, ...",
        "",
        parse=provider,
        stored=True,
    )
    libfabric: str = row(
        "target",
        "PATH",
        "path of the libfabric that the transport ofi loads on the nodes",
        "",
        parse=library,
        names=("",),
        stored=True,
    )
    messages: Messages = choice(
        "target",
        "tagged|msg",
        "libfabric's calls, for the transport ofi: tagged or msg",
        "",
        stored=True,
    )
    completion: Completion = choice(
        "target",
        "transmit|delivery",
        "what the completion of a send guarantees, for the transport ofi: transmit or delivery",
        "",
        stored=True,
    )
    exchange: Exchange = choice(
        "target",
        "meeting|mpi",
        "how ranks exchange addresses, for the transport ofi: meeting or mpi",
        "",
        stored=True,
    )
    fabric: str = row(
        "target",
        "tcp|verbs|psm3|...",
        "provider that the MPI must use",
        "",
        parse=one_of("tcp", "verbs", "psm3", "psm2", "mlx", "opx", ""),
        stored=True,
    )
    nic: str = row(
        "target",
        "NAME",
        "the NIC that the traffic is claimed to use, or its rails: hsn0,hsn1",
        "",
        parse=check_nics,
        complete="nics",
        first=True,
        stored=True,
    )
    nic_selection: str = choice(
        "target",
        "claimed|none",
        "tell the MPI to use the claimed NIC, or leave the choice to the MPI (none)",
        "claimed",
        stored=True,
    )
    launcher: str = row(
        "target",
        "ssh|PATH",
        "method to reach other hosts: ssh or the path of an agent",
        "",
        parse=plain,
        names=("", "ssh"),
        stored=True,
    )
    lab: str | None = row(
        "target",
        "NAME",
        "the virtual cluster whose nodes --hosts names",
        complete="labs",
        first=True,
        stored=True,
    )
    virtual: bool = row(
        "target",
        "",
        "declare that the hosts are namespaces or containers of one machine on purpose",
        False,
        stored=True,
    )
    scheduler: str = row(
        "target",
        "",
        "use the surrounding Slurm, PBS, LSF or Flux allocation, or none",
        "auto",
        choices=("auto", "none"),
        stored=True,
    )
    starter: Literal["auto", "scheduler", "mpi"] = row(
        "target",
        "",
        "in an allocation: launcher that starts the ranks, the scheduler's or the MPI's",
        "auto",
        choices=("auto", "scheduler", "mpi"),
        stored=True,
    )
    prefix: str = row(
        "target",
        "'CMD ARG...'",
        "site command through which every rank is started: modules, a container",
        "",
        names=(),
        stored=True,
    )
    sysfs_root: str = row(
        "target",
        "DIR",
        "read ports and counters below DIR (a host's / in a container, a recorded tree); {host}:"
        " its name",
        "",
        check=absolute,
        stored=True,
    )
    link: str = row(
        "link",
        "10gbe|edr|opa100|...",
        "claimed link: 10gbe, ethernet:25, edr, infiniband:400, 2xedr, opa100, ...",
        "",
        parse=plain,
        complete="links",
        first=True,
        stored=True,
    )
    mtu: int | None = row(
        "link", "BYTES", "MTU, if it cannot be read", between=(68, 65535), stored=True
    )
    pcie: str = row("link", "GENxLANES", "slot of the NIC, such as gen3x16", "", stored=True)
    physics: Path | None = row(
        "link",
        "",
        "TOML file that overrides constants of the limits",
        path="must exist",
        stored=True,
    )
    atlas: Path | None = row(
        "published", "DIR", "folder of a site's own published numbers", parse=path
    )
    out: Path | None = row("output", "DIR", "folder for the run's records", parse=path, first=True)
    history: Path | None = row(
        "output", "DIR", "history that stores the result, instead of --out", parse=path, first=True
    )
    budget: float | None = row(
        "output",
        "1s",
        "time for one point: 500ms, 2s",
        parse=parse_duration,
        first=True,
        stored=True,
    )
    deadline: float | None = row(
        "output", "10min", "time for the whole run: 10min", parse=parse_duration, stored=True
    )
    seed: int | None = row(
        "output", "N", "seed of the order of the points", parse=whole(0, 2**63 - 1)
    )
    json: bool = row("output", "", "one JSON document on stdout", False, parse=yes_no, first=True)
    resume: bool = row(
        "output",
        "",
        "continue the run in --out: only missing points are measured",
        False,
        first=True,
    )
    slurm: bool = row(
        "job", "", "request nodes from Slurm for the check", False, first=True, stored=True
    )
    nodes: int | None = row(
        "job",
        "N",
        "nodes of that job",
        flags="-N --nodes",
        between=(1, 100_000),
        first=True,
        stored=True,
    )
    job_partition: str = of_job(
        "NAME", "partition (queue) of the job", "-p --partition", first=True
    )
    job_time: str = of_job("H:MM:SS", "time limit of the job; default 10 minutes", "-t --time")
    job_account: str = of_job("NAME", "account that the job is charged to", "-A --account")
    job_qos: str = of_job("NAME", "quality of service", "--qos")
    job_nodelist: str = of_job("NODES", "nodes the job must have", "-w --nodelist", parse_hosts)
    job_exclude: str = of_job("NODES", "nodes the job must not have", "-x --exclude", parse_hosts)
    job_reservation: str = of_job("NAME", "reservation to run in", "--reservation")
    job_constraint: str = of_job("FEATURES", "features that the nodes must have", "-C --constraint")
    job_wait: str = of_job("TIME", "longest wait in the queue", "--wait", parse_duration)
    sizes: tuple[int, ...] = row(
        "measure",
        "LIST",
        "message sizes: 0,8,64KiB or 0:4MiB (doubling)",
        (),
        parse=parse_sizes,
        stored=True,
    )
    window: int = row(
        "measure",
        "N",
        "messages in flight (bounded by 4 MiB, or 32 ms of the link); default 64",
        64,
        parse=whole(1, 1024),
        stored=True,
    )
    formula: Formula = choice(
        "measure",
        "robust|osu|imb-mpi1|imb-p2p|hpcc",
        "suite whose loop and formula are used",
        "robust",
        stored=True,
    )
    form: Form | None = row(
        "measure",
        "",
        "put, get, accumulate: flush each access or each window; persistent, partitioned, "
        "threads: there and back, or one way",
        choices=("latency", "stream"),
    )
    ppn: int = row("measure", "", "ranks on each host", 1, between=(1, 4096))
    order: Literal["natural", "random"] | None = row(
        "measure", "", "ring: order of the ranks; default natural", choices=("natural", "random")
    )
    nonblocking: bool = row(
        "measure", "", "collectives: the non-blocking form, and its overlap", False
    )
    threads: int | None = row("measure", "N", "threads: number in each rank", between=(1, 256))
    partitions: int | None = row(
        "measure", "N", "partitioned: partitions of each message", between=(1, 4096)
    )
    window_kind: Literal["allocate", "create"] = row(
        "measure",
        "",
        "put, get: how the remote memory is created",
        "allocate",
        choices=("allocate", "create"),
    )
    both_directions: bool = row("measure", "", "also from the second host to the first", False)
    psm_statistics: bool = row(
        "measure",
        "",
        "PSM3's own counters as a second witness: written into a private folder here, which "
        "all hosts must see, and removed afterwards",
        False,
    )
    gain: bool = row(
        "measure",
        "",
        "measure each NIC of --nic alone, then all together: the gain of the rails",
        False,
    )
    ranks: int = row("measure", "", "ranks, without --hosts", 2, between=(1, 4096))
    alone: bool = False


ROWS: dict[str, OptionRow] = {
    one.name: one.metadata["row"] for one in dataclasses.fields(Options) if one.metadata
}
"""The rows by name, in the order of the help."""
