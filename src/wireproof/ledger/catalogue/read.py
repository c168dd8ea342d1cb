# pure
"""Read the files of ``nics/``: adapter families, their port counters and their pause counters."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated, Any, Literal

import msgspec

from wireproof.model.record import Nic
from wireproof.model.site import HEADS, CatalogueFile, of_site, packaged, site_texts
from wireproof.model.toml import check_braces, once, read_rows
from wireproof.model.traffic import Carrier, Direction, Level, Quality

# --- A catalogue row: one counter (or a sum of counters) of one kind of port.

Where = Literal["ethernet", "infiniband", "any"]
Function = Literal["physical", "virtual", "scalable", "unsaid", "any"]


class CounterKind(msgspec.Struct, frozen=True, kw_only=True):
    """Properties of a counter, common to files and rows. ``misses``: the traffic that it leaves
    out, in words. ``payload_only``: wire headers are not counted. ``width``: bits. ``pegs``: it
    stops at its largest value instead of wrapping. ``where``: link layer of the port. ``source``:
    where this is documented, after ``unchecked:`` if it was not confirmed in the driver's source.
    ``quality``: ``lower-bound`` if a part may be missing (so a low count does not prove absence),
    ``double`` if a part may be counted twice. ``fcs``: the 4-byte check sequence of each frame is
    counted; None: not known. ``stops``: the setting that freezes the counter; if no counter of the
    port moved, its value proves nothing. ``turned``: counters of bytes in both directions, included
    here, that the adapter's internal switch returned.
    """

    source: str
    misses: str = ""
    payload_only: bool = False
    width: Annotated[int, msgspec.Meta(ge=1, le=64)] = 64
    pegs: bool = False
    where: Where = "any"
    quality: Quality = "exact"
    fcs: bool | None = None
    stops: str = ""
    turned: tuple[str, ...] = ()


class CounterRow(CounterKind, frozen=True, kw_only=True):
    """One counter, or a sum of counters, for both directions.

    ``tx``, ``rx``: names of counters to add up, with the placeholders ``{nic}``, ``{device}`` and
    ``{port}``, in the engine's spelling (``net/{nic}/tx_bytes``, ``ethtool/{nic}/tx_bytes_phy``,
    ``ib/{device}/{port}/counters/...``). ``unit``: bytes per count. ``carrier``: the carriers that
    the count includes. ``refresh_ms``: maximum age of the value. ``function``: SR-IOV function
    (``unsaid``: the kernel does not report it, as for a virtual function in a guest).
    ``packets_tx``, ``packets_rx``: packet counters of the same traffic.
    """

    tx: tuple[str, ...]
    rx: tuple[str, ...]
    carrier: Carrier
    level: Level
    unit: int = 1
    packets_tx: tuple[str, ...] = ()
    packets_rx: tuple[str, ...] = ()
    refresh_ms: float = 0.0
    function: Function = "any"

    def names(self, direction: Direction) -> tuple[str, ...]:
        """Return the templates of the byte counters of one direction."""
        return self.tx if direction == "tx" else self.rx

    def packets(self, direction: Direction) -> tuple[str, ...]:
        """Return the templates of the packet counters of one direction; empty if there are none."""
        return self.packets_tx if direction == "tx" else self.packets_rx

    def fits(self, nic: Nic) -> bool:
        """Return whether this row applies to a port of this link layer and function."""
        return self.where in ("any", link_layer_of(nic)) and self.function in (
            "any",
            nic.function or "unsaid",
        )

    def is_pegged(self, value: int) -> bool:
        """Return whether the value is exactly the largest; a larger value shows that the counter is
        wider.
        """
        return self.pegs and value == 2**self.width - 1


def link_layer_of(nic: Nic) -> Where:
    """Return the RDMA port's link layer if it reports one, else the interface's."""
    stated = nic.rdma.link_layer.lower() if nic.rdma is not None else ""
    if stated in ("ethernet", "infiniband"):
        return "infiniband" if stated == "infiniband" else "ethernet"
    return "infiniband" if nic.kind == "infiniband" else "ethernet"


class FamilyIdentity(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The identity of one kind of adapter: the driver of its interface or RDMA device, never a
    user's name.

    ``drivers``: shell patterns, lower case. ``kinds``: the kernel's kinds of virtual interfaces
    (``link_kind``). ``blind``: carriers without a counter (``rdma`` of usNIC, of qedr): their
    traffic stays unproven unless a row of carrier ``any`` can be read. ``deviceless``: the blind
    carriers need no device in /sys/class/infiniband. ``stacked``: the interfaces below count its
    bytes again. ``rdma_packets``: packet counters of its RDMA, whose bytes the interface
    counts: if none moved, all bytes were the kernel's. ``note``: text for the documentation page.
    """

    name: str
    source: str
    drivers: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    blind: tuple[Carrier, ...] = ()
    stacked: bool = False
    deviceless: bool = False
    note: str = ""
    rdma_packets: tuple[str, ...] = ()


class Family(FamilyIdentity, frozen=True, kw_only=True):
    """One kind of adapter. ``rows``: the best first, per carrier; if the first row of a carrier
    cannot be read, the next is used.
    """

    rows: tuple[CounterRow, ...]

    @property
    def has_rdma(self) -> bool:
        """True if the adapter itself does RDMA that the kernel's interface does not show."""
        return "rdma" in self.blind or any(
            "{device}" in name for row in self.rows for name in row.tx
        )

    def rows_for(self, nic: Nic) -> tuple[CounterRow, ...]:
        """Return the rows for a port of this link layer and function, the best first."""
        return tuple(row for row in self.rows if row.fits(nic))


FILES = (
    *("mellanox", "omnipath", "intel", "broadcom", "makers", "cloud", "live", "plain"),
    "virtual",
)
WORD = 4
"""Bytes per count of InfiniBand's PortXmitData and PortRcvData (IB specification volume 1,
16.1.3.5).
"""
_INTERFACE = {
    "tx": "tx_bytes",
    "rx": "rx_bytes",
    "packets_tx": "tx_packets",
    "packets_rx": "rx_packets",
    "carrier": "kernel",
    "level": "stack",
}
_PORT = {
    "tx": "port_xmit_data",
    "rx": "port_rcv_data",
    "packets_tx": "port_xmit_packets",
    "packets_rx": "port_rcv_packets",
    "unit": WORD,
}
_RDMA = {"carrier": "rdma", "level": "function", "refresh_ms": 10.0}
"""The kernel keeps ``hw_counters`` for 10 ms unless ``lifespan`` was changed."""
_PLACES: dict[str, tuple[str, dict[str, Any]]] = {
    "interface": ("net/{nic}/", _INTERFACE),
    "ethtool": ("ethtool/{nic}/", {"carrier": "any", "level": "wire"}),
    "port": ("ib/{device}/{port}/counters/", _PORT),
    "port-hw": ("ib/{device}/{port}/hw_counters/", _RDMA),
    "device-hw": ("ib/{device}/hw_counters/", _RDMA),
    "telemetry": ("cxi/{device}/", {}),
}
"""The places of counters, in the engine's spelling, and the defaults of their rows."""
Age = Annotated[float, msgspec.Meta(ge=0, le=600_000)]
"""The maximum age of a value, in milliseconds."""
_NAMES = ("tx", "rx", "packets_tx", "packets_rx")
PLACES = ("nic", "device", "port")
"""The words in braces that a counter's name may contain."""


class _Counters(CounterKind, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``CounterRow`` as written in a file: counter names relative to ``of``, separated by spaces.

    ``function = "physical-first"``: registers of the port. A virtual function may show them as 0 or
    not at all, and in a guest nothing marks it as virtual: if the kernel does not state the
    function, the counts are a lower bound.
    """

    of: Literal["interface", "ethtool", "port", "port-hw", "device-hw", "telemetry"]
    tx: str = ""
    rx: str = ""
    packets_tx: str | None = None
    packets_rx: str | None = None
    carrier: Carrier | None = None
    level: Level | None = None
    unit: Annotated[int, msgspec.Meta(ge=1, le=1 << 20)] | None = None
    refresh_ms: Age | None = None
    function: Function | Literal["physical-first"] = "any"

    def __post_init__(self) -> None:
        _, known = _PLACES[self.of]
        for name in ("tx", "rx", "carrier", "level"):
            if not getattr(self, name) and name not in known:
                raise ValueError(f"counters of {self.of!r} have no field {name!r}")
        if len(self.tx.split()) != len(self.rx.split()):
            raise ValueError("'tx' and 'rx' list different numbers of counters")
        check_braces(self, (*_NAMES, "turned"), PLACES)


class _Family(FamilyIdentity, frozen=True, kw_only=True):
    counters: tuple[_Counters, ...] = ()


def site_first(read: Callable[[str, str, set[str]], Iterable[Any]]) -> tuple[Any, ...]:
    """Return the rows that ``read`` finds in all files. The first match counts, so those of the
    site come first; their names contain the file. ``read`` gets the site's files last, so that an
    existing name is the site's mistake.
    """
    files = [f"nics/{name}.toml" for name in FILES]
    ours = [CatalogueFile(packaged(__package__, name), name) for name in files]
    known: set[str] = set()
    rows = [
        (text.by_site, msgspec.structs.replace(row, name=text.source(row.name)))
        for text in (*ours, *site_texts())
        for row in read(text.text, text.name, known)
    ]
    return tuple(row for _, row in sorted(rows, key=lambda pair: not pair[0]))


@of_site
def families() -> tuple[Family, ...]:
    """Return all families of NICs."""
    return site_first(families_in)


def families_in(text: str, source: str, known: set[str] | None = None) -> tuple[Family, ...]:
    """Return the families of one file and add their names to ``known``.

    Raises ``BadInput`` with ``source``, line and field.
    """
    names = set() if known is None else known

    def new(family: _Family) -> None:
        once(names, family.name, "family")
        if not family.drivers and not family.kinds:
            raise ValueError("'drivers' determines the NICs of the family: give at least one")
        check_drivers(family.drivers)
        check_braces(family, ("rdma_packets",), PLACES)

    return tuple(_family(row) for row in read_rows(text, source, "family", _Family, HEADS, new))


def check_drivers(drivers: Sequence[str]) -> None:
    """Raise ValueError for a shell pattern that no driver's name can match."""
    if any(driver != driver.lower() for driver in drivers):
        raise ValueError("'drivers' must be in lower-case letters, as in sysfs")
    for driver in drivers:
        if not driver.strip() or driver.count("[") != driver.count("]"):
            raise ValueError(f"'drivers' has {driver!r}, which matches no driver")


def _family(read: _Family) -> Family:
    rows = tuple(row for counters in read.counters for row in _rows(counters))
    kept = msgspec.structs.asdict(read)
    del kept["counters"]
    return Family(rows=rows, **kept)


def _rows(counters: _Counters) -> Iterator[CounterRow]:
    place, values = _PLACES[counters.of]
    values = values | {
        name: value
        for name, value in msgspec.structs.asdict(counters).items()
        if value is not None and value != "" and name != "of"
    }
    for key in _NAMES:
        values[key] = tuple(place + name for name in values.get(key, "").split())
    first = counters.function == "physical-first"
    if first:
        values["function"] = "physical"
    row = CounterRow(**values)
    yield row
    if first:
        yield msgspec.structs.replace(row, function="unsaid", quality="lower-bound")
