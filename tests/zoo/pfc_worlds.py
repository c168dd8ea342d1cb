"""What is planted on hosts with pause counters, and what has to be found of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tests.zoo.pfc_adapters import BASE, LOSSLESS, NIC, SECONDS, Adapter, Happened

from wireproof.model.traffic import CounterMark, Watched, WatchStart
from wireproof.pfc import PfcLoad, PfcRecord, PfcSettings

_GOOD = Happened(bytes_of={LOSSLESS: 10**9})
PAUSED = replace(
    _GOOD, rx_xoff={LOSSLESS: 5000}, rx_xon={LOSSLESS: 2400}, rx_us={LOSSLESS: 3_000_000}
)


@dataclass(frozen=True)
class World:
    """What happened to each host, and what is configured. ``hides``: parts of names that nothing
    prints; ``begins``: value before, by host; ``renewed``: hosts whose counters began anew.
    """

    hosts: Mapping[str, Happened]
    lossless: tuple[int, ...] | None = (LOSSLESS,)
    link: bool | None = False
    hides: tuple[str, ...] = ()
    begins: int = BASE
    renewed: frozenset[str] = frozenset()
    error: Mapping[str, str] = field(default_factory=dict)


def _fleet(**more: Happened) -> dict[str, Happened]:
    """One receiver, five hosts that its switch paused; ``more`` by name."""
    hosts = {f"n{number}": PAUSED for number in range(2, 7)}
    return {"n1": _GOOD, **hosts, **more}


def _moved(happened: Happened, priority: int) -> Happened:
    """All of it in another priority."""
    names = ("tx_xoff", "tx_xon", "rx_xoff", "rx_xon", "tx_us", "rx_us", "bytes_of")
    return replace(
        happened,
        **{
            name: {priority: sum(getattr(happened, name).values())}
            for name in names
            if getattr(happened, name)
        },
    )


@dataclass(frozen=True)
class Situation:
    """``world``: what is planted. ``code``: the finding that has to be there wherever the adapter's
    counters can show it; ``verdict`` of an adapter that shows all four conditions.
    """

    key: str
    world: World
    verdict: str
    code: str = ""
    needs: frozenset[str] = frozenset()


SLOW = replace(
    PAUSED, tx_xoff={LOSSLESS: 244_655_362}, tx_xon={LOSSLESS: 20_287}, tx_us={LOSSLESS: 900_000}
)
_STORM = replace(SLOW, tx_us={LOSSLESS: 9_000_000}, bytes_of={LOSSLESS: 2_000_000}, alarms=3)
_NO_XON_SEEN = frozenset({"no-xon"})
_PER = frozenset({"priority"})
SITUATIONS: tuple[Situation, ...] = (
    Situation("lossless", World(_fleet()), "pass"),
    Situation("wrapped", World(_fleet(), begins=(1 << 32) - 1000), "pass"),
    Situation("dropped", World(_fleet(n1=replace(_GOOD, rx_dropped=1200))), "fail", "pfc-dropped"),
    Situation(
        "dropped-when-sent", World(_fleet(n2=replace(PAUSED, tx_dropped=7))), "fail", "pfc-dropped"
    ),
    Situation(
        "lost-in-the-switch",
        World(_fleet(n4=replace(PAUSED, lost=40))),
        "fail",
        "pfc-lost",
        frozenset({"lost"}),
    ),
    Situation(
        "no-xoff",
        World({f"n{i}": replace(_GOOD, rx_dropped=500 if i == 1 else 0) for i in range(1, 7)}),
        "fail",
        "pfc-no-xoff",
        _PER,
    ),
    Situation(
        "no-xon", World(_fleet(n3=replace(PAUSED, rx_xon={}))), "fail", "pfc-no-xon", _NO_XON_SEEN
    ),
    Situation(
        "wrong-priority",
        World({name: _moved(one, 0) for name, one in _fleet().items()}),
        "fail",
        "pfc-wrong-priority",
        _PER,
    ),
    Situation(
        "another-priority-too",
        World(_fleet(n5=replace(PAUSED, rx_xoff={LOSSLESS: 5000, 5: 77}, rx_us={5: 1000}))),
        "fail",
        "pfc-wrong-priority",
        _PER,
    ),
    Situation("link-setting", World(_fleet(), link=True), "fail", "pfc-link-flow-control"),
    Situation(
        "link-frames",
        World(_fleet(n6=replace(PAUSED, link_frames=9)), link=None),
        "fail",
        "pfc-link-flow-control",
    ),
    Situation("pfc-off", World(_fleet(), lossless=(4,)), "fail", "pfc-off"),
    Situation(
        "slow-receiver", World(_fleet(n3=SLOW)), "fail", "pfc-slow-receiver", frozenset({"sent"})
    ),
    Situation("storm", World(_fleet(n3=_STORM)), "fail", "pfc-storm", frozenset({"rate"})),
    Situation(
        "no-pressure",
        World({f"n{i}": _GOOD for i in range(1, 7)}),
        "inconclusive",
        "pfc-no-pressure",
    ),
    Situation("nothing-ran", World({f"n{i}": Happened() for i in range(1, 7)}), "inconclusive"),
    Situation(
        "no-pause-counters",
        World(_fleet(), hides=("pause", "xoff", "xon", "pfc", "ppp")),
        "inconclusive",
        "pfc-counters-missing",
    ),
    Situation(
        "no-drop-counters",
        World(_fleet(), hides=("drop", "discard", "error")),
        "inconclusive",
        "pfc-counters-missing",
    ),
    Situation("no-setting", World(_fleet(), link=None), "inconclusive", "pfc-counters-missing"),
    Situation(
        "counters-began-anew",
        World(_fleet(), renewed=frozenset({"n2", "n4"})),
        "inconclusive",
        "pfc-counters-unreadable",
    ),
    Situation(
        "host-not-read",
        World(_fleet(), error={"n2": "ssh: no route"}),
        "inconclusive",
        "pfc-unwatched",
    ),
    Situation(
        "only-hosts-pause",
        World(
            {
                **{f"n{i}": _GOOD for i in range(2, 7)},
                "n1": replace(_GOOD, tx_xoff={LOSSLESS: 50}, tx_xon={LOSSLESS: 50}, tx_us={3: 90}),
            }
        ),
        "inconclusive",
        "pfc-one-way",
        frozenset({"sent"}),
    ),
)


def marks(adapter: Adapter, world: World, host: str) -> tuple[dict[str, int], dict[str, int]]:
    rises = {
        name: rise
        for name, rise in adapter.rises(world.hosts[host]).items()
        if not any(word in name for word in world.hides)
    }
    before = dict.fromkeys(rises, world.begins)
    if host in world.renewed:
        return before, rises
    wrap = 1 << 32 if world.begins > 1 << 31 else 1 << 64
    return before, {name: (before[name] + rise) % wrap for name, rise in rises.items()}


def record_of(adapter: Adapter, world: World) -> PfcRecord:
    """What would be read of it."""
    nics = adapter.nics()
    hosts = []
    for host in world.hosts:
        before, after = marks(adapter, world, host)
        start = CounterMark(t_ns=0, counters=before)
        hosts.append(
            Watched(
                host=host,
                about=WatchStart(schema=1, hostname=host, interval_ms=100, nics=nics),
                start=start,
                before=start,
                after=CounterMark(t_ns=SECONDS * 10**9, counters=after),
                settled_s=2.0,
                error=world.error.get(host, ""),
            )
        )
    lossless = None if world.lossless is None else list(world.lossless)
    settings = [
        PfcSettings(host=host, nic=NIC, lossless=lossless, link_rx=world.link, link_tx=world.link)
        for host in world.hosts
    ]
    load = PfcLoad(kind="stored", seconds=SECONDS)
    return PfcRecord(
        hosts=hosts, settings=settings, load=load, nics=dict.fromkeys(world.hosts, NIC)
    )
