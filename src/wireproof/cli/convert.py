"""``wireproof convert VALUE``: a rate in every unit, held against what a link can carry, with the
arithmetic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from decimal import Decimal

    from wireproof.model.claim import Limits, LinkClaim
    from wireproof.physics.units import Quantity, Row

__all__ = ["command"]

_ROUNDED = 1.0005  # a rate that was typed has few digits


def _link(text: str | None, path: str, mtu: int | None, pcie: str) -> LinkClaim | None:
    if not text:
        return None
    from wireproof.physics import claim_from_text

    return claim_from_text(text, path=path, mtu=mtu, pcie=pcie)


def _shares(rate: Decimal, link: LinkClaim, limits: Limits) -> dict[str, Any]:
    """Shares of the nominal and of the attainable rate with their lines, and what to think of
    them.
    """
    import msgspec

    from wireproof.physics.bounds import bounds_of
    from wireproof.physics.units import shares

    rows = {row.label: row for row in shares(rate, link)}
    found: dict[str, Any] = {
        "kind": link.kind,
        "derivation": list(limits.derivation),
        "warnings": [],
    }
    found["nominal_bytes_per_s"] = None if link.line_rate is None else link.line_rate / 8
    found["attainable_bytes_per_s"] = limits.attainable_bytes_per_s
    for name in ("nominal", "attainable"):
        found[f"share_of_{name}"] = rows[name].value if name in rows else None
    found["arithmetic"] = [row.arithmetic for row in rows.values()]
    if link.protocol == "tcp" and link.mtu is None:
        # Most Ethernets run at 1500, and the largest MTU flatters none of them: both are said.
        usual = shares(rate, msgspec.structs.replace(link, mtu=1500))
        found["arithmetic"] += [
            f"{row.arithmetic} at MTU 1500" for row in usual if row.label == "attainable"
        ]
    share = found["share_of_attainable"]
    most = bounds_of(link).most
    if share is not None and most is not None and float(rate) > most * _ROUNDED:
        found["warnings"].append(
            f"this is {100 * share:.2f} % of what {link.name} can carry in one direction: the bytes did not (all) take"
            " this link, or both directions were added, or the unit is another one"
        )
    return found


def _timing(quantity: Quantity, link: LinkClaim, limits: Limits) -> list[str]:
    """A time below the link's shortest time is no time of that link."""
    nanoseconds = float(quantity.value) * 1e9
    if quantity.kind != "time" or limits.floor_ns is None or nanoseconds >= limits.floor_ns:
        return []
    said = f"{nanoseconds:.6g} ns is shorter than the shortest half round trip over {link.name}"
    return [f"{said}, {limits.floor_ns:.6g} ns: shared memory, another link, or another unit"]


def _held(
    quantity: Quantity, rate: Decimal | None, link: LinkClaim | None, size: int | None
) -> dict[str, Any] | None:
    if link is None:
        return None
    from wireproof.physics import limits

    one = quantity.kind == "time"
    found = limits(link, "pingpong" if one else "stream", "latency" if one else "stream", size or 0)
    if not one:
        # The shortest time of a stream's message says nothing about a rate: only the ceiling is
        # shown.
        found.derivation.pop()
    held: dict[str, Any] = {
        "kind": link.kind,
        "derivation": found.derivation,
        "arithmetic": [],
        "warnings": [],
    }
    if rate is not None:
        held = _shares(rate, link, found)
    held["warnings"] += _timing(quantity, link, found)
    return held


def _document(quantity: Quantity, size: int | None, link: LinkClaim | None) -> dict[str, Any]:
    from wireproof.physics.units import goodput_of, rates, times

    rate, step = goodput_of(quantity, size)
    rows: list[Row] = times(quantity.value) if quantity.kind == "time" else []
    rows = [*rows, *(rates(rate) if rate is not None else [])]
    return {
        "value": quantity.text,
        "kind": quantity.kind,
        "message_bytes": size,
        "bytes_per_s": None if rate is None else float(rate),
        "arithmetic": [line for line in (quantity.arithmetic, step) if line],
        "remark": quantity.remark,
        "rows": rows,
        "link": _held(quantity, rate, link, size),
    }


def _text(found: dict[str, Any]) -> str:
    lines = list(found["arithmetic"])
    rows: list[Row] = found["rows"]
    width = max((len(row.text) for row in rows), default=0)
    lines += [f"  {row.text:{width}}   {row.arithmetic}" for row in rows]
    if found["bytes_per_s"] is None:
        lines.append(
            "give --size BYTES for the goodput of one message in this time or at this rate"
        )
    if found["remark"]:
        lines.append(f"note: {found['remark']}")
    if (link := found["link"]) is not None:
        lines += [
            f"{link['kind']}:",
            *(f"  {line}" for line in (*link["derivation"], *link["arithmetic"])),
        ]
        lines += [f"WARNING: {line}" for line in link["warnings"]]
    return "\n".join(lines)


@click.command("convert")
@click.argument("value", nargs=-1, required=True)
@click.option(
    "--link",
    metavar="[Nx]KIND[:GBPS]",
    help="also in per cent of this link: 10gbe, edr, opa100, ethernet:25.",
)
@click.option(
    "--path", metavar="tcp|rdma|...", default="", help="what carries the bytes over the link."
)
@click.option("--mtu", type=click.IntRange(68, 65535), metavar="BYTES", help="MTU of the link.")
@click.option("--pcie", metavar="GENxLANES", default="", help="slot of the NIC, such as gen3x16.")
@click.option(
    "--size", metavar="SIZE", help="message size: turns a time or a message rate into a goodput."
)
@click.option("--json", "as_json", is_flag=True, help="one JSON document on stdout.")
def command(value: tuple[str, ...], **options: Any) -> int:
    """Convert VALUE, such as 4986.11MB/s, 39.9Gb/s, 1.24us or 160Mmsg/s, and show the arithmetic.

    MB is 10^6 bytes and MiB is 2^20; b is a bit and B is a byte. A time is that of one message
    (half a round trip). With --link the rate is held against the line rate and against what headers
    leave of it.
    """
    from wireproof.model.errors import BadInput
    from wireproof.physics.units import parse_quantity
    from wireproof.settings.sizes import parse_size

    # As pasted from a log the number and its unit are two words.
    quantity = parse_quantity(" ".join(value))
    size = parse_size(options["size"]) if options["size"] is not None else None
    if size == 0:
        raise BadInput("a message of 0 bytes carries nothing: give a --size of 1 or more.")
    link = _link(options["link"], options["path"], options["mtu"], options["pcie"])
    found = _document(quantity, size, link)
    if options["as_json"]:
        from wireproof.report.json.encode import json_text

        click.echo(json_text(found, indent=2))
    else:
        click.echo(_text(found))
    return 0
