"""The constants that limits are computed from, each with its source; a user may override any of
them.

Keys are dotted (``floor.tcp``). ``literature`` marks a value taken from papers, data sheets and
practice rather than from a standard's arithmetic: a number that contradicts such a constant only a
little is a doubt, not a disproof.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import msgspec

from wireproof.model.errors import BadInput
from wireproof.model.toml import read_toml
from wireproof.physics import allowances, floors
from wireproof.physics.errors import PhysicsError

__all__ = ["Constant", "Table", "changed_constants", "default_table", "override", "with_constants"]


class Constant(msgspec.Struct, frozen=True, kw_only=True):
    """A number with its unit and where it comes from."""

    value: float
    unit: str
    source: str
    literature: bool = False


Table = Mapping[str, Constant]

_IEEE = "IEEE 802.3"
_L = "fabric practice and data sheets (L)"

# key, value, unit, source, literature
_ROWS: tuple[tuple[str, float, str, str, bool], ...] = (
    ("ethernet.header", 14, "B", f"{_IEEE} clause 3: addresses and type", False),
    ("ethernet.fcs", 4, "B", f"{_IEEE} clause 3: frame check sequence", False),
    (
        "ethernet.gap",
        20,
        "B",
        f"{_IEEE} clause 4: 8 preamble and start, 12 inter-packet gap",
        False,
    ),
    ("tcp.ip_header", 20, "B", "RFC 791, no options", False),
    ("tcp.header", 20, "B", "RFC 9293, no options", False),
    (
        "tcp.timestamp_option",
        12,
        "B",
        "RFC 7323 with padding; 0 when net.ipv4.tcp_timestamps=0",
        False,
    ),
    (
        "tcp.mtu",
        9000,
        "B",
        "assumed when the MTU is unknown: the most that the link could carry",
        True,
    ),
    (
        "rocev2.header",
        82,
        "B",
        "14 Ethernet + 20 IP + 8 UDP + 12 BTH + 4 ICRC + 4 FCS + 20 gap (IBTA annex A17)",
        False,
    ),
    ("rocev2.mtu", 4096, "B", "assumed when the path MTU is unknown: the largest there is", True),
    (
        "iwarp.header",
        20,
        "B",
        "inside TCP: 2 MPA length, 4 MPA CRC, 14 DDP and RDMAP (RFC 5044, 5041, 5040)",
        False,
    ),
    (
        "iwarp.mtu",
        9000,
        "B",
        "assumed when the MTU is unknown: the most that the link could carry",
        True,
    ),
    ("infiniband.header", 30, "B", "8 LRH + 12 BTH + 4 ICRC + 2 VCRC + 4 (IBTA volume 1)", False),
    ("infiniband.mtu", 4096, "B", "IBTA volume 1; 2048 up to QDR", True),
    ("infiniband.mtu_qdr", 2048, "B", "usual up to QDR", True),
    ("omnipath.header", 72, "B", "9 flits of header and trailer per packet", True),
    ("omnipath.mtu", 8192, "B", "default MTU of verbs and PSM2 on Omni-Path", True),
    ("fabric.header", 0, "B", "fabrics of one maker (Aries, Tofu, BXI): not published", True),
    ("truescale.goodput", 3.4e9, "B/s", f"PCIe 2.0 x8 bound of True Scale QDR, {_L}", True),
    (
        "psm3.header",
        90,
        "B",
        "rocev2.header and 8 of DETH: PSM3 sends eager data as RoCE datagrams",
        False,
    ),
    ("psm3.inner_header", 56, "B", "PSM3's own header, inside the RoCE payload", True),
    ("psm3.mtu", 4096, "B", "assumed when the path MTU is unknown: the largest there is", True),
    (
        "efa.header",
        110,
        "B",
        f"Ethernet, IP, UDP and SRD headers, not published; estimate, {_L}",
        True,
    ),
    ("efa.mtu", 8928, "B", "MTU that EFA devices report (ibv_devinfo)", True),
    (
        "slingshot.header",
        62,
        "B",
        f"Ethernet with reduced preamble and gap, not published; estimate, {_L}",
        True,
    ),
    ("slingshot.mtu", 4096, "B", f"payload of a full packet, {_L}", True),
    (
        "ipoib.mtu",
        65520,
        "B",
        "IPoIB connected mode, RFC 4755: the largest there is; 2044 or 4092 as datagrams",
        True,
    ),
    ("ipoib.encapsulation", 4, "B", "RFC 4391", False),
    (
        "pcie.tlp_overhead",
        24,
        "B",
        "transaction, data-link and physical framing per packet, 64-bit address",
        False,
    ),
    (
        "pcie.flit_overhead",
        16,
        "B",
        (
            "generation 6: header of a packet with a 64-bit address; no framing or CRC of its own "
            "(FLIT mode)"
        ),
        False,
    ),
    ("pcie.dllp_share", 0.985, "1", f"flow control and acknowledgements, {_L}", True),
    (
        "pcie.mps",
        512,
        "B",
        "assumed when the payload size is unknown: the largest in common use",
        True,
    ),
    *floors.ROWS,
    *allowances.ROWS,
    (
        "rate.one_pair",
        12e6,
        "1/s",
        f"two-sided MPI, one pair over RDMA: 3 to 10 M/s; memory 1.5 to 25 M/s, {_L}",
        True,
    ),
    (
        "rate.one_pair_tcp",
        5e6,
        "1/s",
        f"two-sided MPI, one pair over kernel TCP or SRD: 0.1 to 3 M/s, {_L}",
        True,
    ),
    (
        "shaper.burst_time",
        64e-6,
        "s",
        "token bucket of the lab: burst = 64 us x rate; measured honest",
        False,
    ),
    (
        "shaper.least_burst",
        2000,
        "B",
        "least token bucket of the lab: one large frame must pass",
        False,
    ),
    ("shaper.slow_rate", 2e9, "bit/s", "below this the lab uses the small segment", False),
    (
        "shaper.slow_segment",
        16384,
        "B",
        "gso_max_size of the lab below 2 Gb/s: one such packet always passes",
        False,
    ),
    (
        "shaper.segment",
        65536,
        "B",
        "largest segment of the kernel: one such packet always passes",
        False,
    ),
)

_DEFAULT: Table = MappingProxyType(
    {
        key: Constant(value=value, unit=unit, source=source, literature=lit)
        for key, value, unit, source, lit in _ROWS
    }
)


def default_table() -> Table:
    """The built-in constants, read-only."""
    return _DEFAULT


_LARGEST = 1e30
"""No constant of nature here is larger; a comparison also turns away nan, and whole numbers that no
float holds.
"""


def override(table: Table, toml_text: str) -> Table:
    """A copy of ``table`` with the constants that a TOML text sets.

    ``[floor]`` then ``tcp = 6000`` or ``tcp = {value = 6000, source = "measured here"}``. Units
    stay those of the table. Raises PhysicsError for text that is not TOML, an unknown constant, or
    a value that is not a finite number >= 0.
    """
    try:
        tree = read_toml(toml_text, "limits file")
    except BadInput as error:
        raise PhysicsError(str(error)) from error
    changed = dict(table)
    for key, value in _leaves(tree, ""):
        changed[key] = _replaced(table, key, value)
    return MappingProxyType(changed)


def changed_constants(table: Table | None) -> dict[str, float]:
    """The values of ``table`` that are not the built-in ones, by key."""
    return {
        key: constant.value
        for key, constant in (table or {}).items()
        if key not in _DEFAULT or constant != _DEFAULT[key]
    }


def with_constants(values: Mapping[str, float]) -> Table | None:
    """The built-in table with these values, as ``changed_constants`` gives them; None without any.
    Raises PhysicsError as ``override`` does.
    """
    changed = {key: _replaced(_DEFAULT, key, value) for key, value in values.items()}
    return MappingProxyType({**_DEFAULT, **changed}) if changed else None


def _leaves(tree: Mapping[str, object], prefix: str) -> Iterator[tuple[str, object]]:
    for name, value in tree.items():
        key = f"{prefix}{name}"
        if isinstance(value, dict) and "value" not in value:
            yield from _leaves(value, f"{key}.")
        else:
            yield key, value


def _replaced(table: Table, key: str, value: object) -> Constant:
    if key not in table:
        near = difflib.get_close_matches(key, table, n=3, cutoff=0.5)
        hint = f"; nearest: {', '.join(near)}" if near else ""
        raise PhysicsError(f"limits file sets unknown constant {key!r}{hint}")
    source = "user's limits file"
    if isinstance(value, dict):
        extra = sorted(set(value) - {"value", "source"})
        if extra:
            raise PhysicsError(
                f"limits file: {key!r} has unknown field {extra[0]!r}; use value and source"
            )
        source, value = str(value.get("source", source)), value["value"]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= _LARGEST:
        raise PhysicsError(
            f"limits file: {key!r} must be a finite number >= 0 in {table[key].unit}, not {value!r}"
        )
    # A value that the user vouches for is no longer literature: it is held as firmly as the
    # arithmetic.
    return Constant(value=float(value), unit=table[key].unit, source=source, literature=False)
