"""docs/physics.md: how the limits are computed, and every constant with its source."""

from __future__ import annotations

from wireproof.model import quantity
from wireproof.physics.limits import limits
from wireproof.physics.links import link_from_name, link_names
from wireproof.physics.table import default_table

__all__ = ["page"]

_HOW = """\
# What physics allows

A number is held against two limits, computed from the claim (`--link`, MTU, PCIe slot) and from the constants
below. This page is written by `wireproof.physics.describe.page()`, and a test keeps it equal to the code.

**Attainable goodput** = the least of what is known: line rate less headers at this MTU, PCIe slot. A link is full
duplex: an exchange has it in each direction. Efficiency is goodput / attainable, never / nominal.

| protocol | payload / bytes on the line, per packet |
|---|---|
| kernel TCP | (MTU - 20 IP - 20 TCP - 12 timestamps) / (MTU + 14 + 4 + 20) |
| RoCEv2 | path MTU / (path MTU + 82); the largest of 256 ... 4096 that leaves 96 B of the interface's MTU |
| iWARP | (MTU - 60) / (MTU + 38) |
| InfiniBand | MTU / (MTU + 30) |
| Omni-Path | MTU / (MTU + 72) |
| True Scale | bound by its adapter |
| PSM3 | RoCE datagrams: (path MTU - 56) / (path MTU + 90) |
| EFA, Slingshot | MTU / (MTU + 110), 4096 / (4096 + 62): headers are not published, estimates |
| IPoIB, IPoFabric | (MTU - 52) / (MTU + 4 + fabric's header for each of its packets) |
| PCIe to generation 5 | GT/s x lanes x code / 8 x MPS / (MPS + 24) x 0.985 |
| PCIe generation 6 | 64 Gb/s x lanes / 8 x 236/256 (FLIT) x MPS / (MPS + 16) |

**What is not known of a link widens it**: its MTU (Ethernet 1500 or 9000, RoCE 1024 to 4096, IPoIB 2044 to 65520), TCP
timestamps (12 B or none), the PCIe payload size (128 to 512), how many of several rails a flow uses. The most
favourable combination bounds the ceiling; the slowest one that the numbers fit is what is expected, and the derivation
names them. The same holds for our own numbers and for those of other programs. `check` fills an unknown MTU of an
Ethernet link from the NICs that were found. A RoCE MTU of exactly 1024, 2048 or 4096 may be one of the path or of the
interface: both are tried.

**Without `--link`** the link is what the port itself says: RDMA's rate after encoding (40 Gb/s QDR are 32 of data),
the speed of the MAC, the slot. The speed of a virtual interface (veth, tun, virtio, hv_netvsc, vmxnet3, ena ...) is
made up and no limit. A virtual function's is an upper limit only: to reach less is inconclusive, not a failure.

**Rails**: `4xndr400` or `2 x edr` claims several links that carry one flow. They bound the ceiling together; a flow
that fills only one of them is inconclusive. A bond carries a flow of kernel TCP over one member.

**Shortest time.** A message of s bytes takes at least s / attainable; where the origin waits for each answer (ping-
pong, flushed put and get) the protocol's latency floor comes on top. This bound is held at every size.

There is an upper limit too: a ping-pong of up to 1 KiB that takes more than 2.5 times the usual (`typical.*`) is
`slow-start`: a failure; inconclusive on virtual hosts, over IPoIB, and on a crowded host (from four times as much).

A ping-pong of 1 MiB or more must reach the link's rate less its start and a rendezvous: three starts, at most half of
the time. Both directions at once: 0.85 of what is expected of one. Streams of the same two hosts that fill the link
acquit it: slow large ping-pongs are then inconclusive, for their protocol is slow and not the link. One pair of EFA
endpoints may carry as little as 0.4 of the device before it is a failure.

A floor marked L is from literature and practice, not from arithmetic. When the counters prove the wire and the time
is above 0.6 of such a floor (`floor.literature_margin`), the finding is inconclusive instead of a failure: the
constant may be wrong for your system. Override it then.

**A lab's link** is shaped by a token bucket that counts neither preamble nor frame check (1448/1514 at MTU 1500:
119.5 MB/s at 1 Gb/s). Messages under 16 KiB at 1 Gb/s, or 64 KiB at 10 Gb/s, are never slowed: ceilings are judged
from four times that size up, and the bytes that pass for nothing after an idle moment are allowed for.

**What other programs printed** is held against the same limits, without counters, so it can be excluded and never
proven:

| number | excluded (fail) | doubted (inconclusive) | noted |
|---|---|---|---|
| start, from a literature floor | below 0.6 of it | below 0.8 of it | below it |
| start, whatever the link | below 0.8 of `floor.any_nic` | | |
| t(s) | below s / attainable + 0.6 floor | | |
| goodput | above attainable + 2 % (ping-pong: 0.5 %) | several pairs, which may use several links | |
| goodput too low | below 0.90 of attainable; a ping-pong less its start and a rendezvous | one EFA pair; UDP | |
| start too slow | above 2.5 times the usual (`typical.*`) | | |

Raw verbs need no MPI: three quarters of the floor. TCP in user space (libvma, Onload) needs no kernel:
`floor.tcp_bypass`.

## Your own constants

`--physics FILE` takes a TOML file; every constant below may be set, with the reason:

```toml
[floor]
rocev2 = {value = 1100, source = "back to back, measured 2026-11"}

[tcp]
timestamp_option = 0     # net.ipv4.tcp_timestamps = 0
```

An unknown name, or a value that is not a finite number >= 0, is refused. A constant that you set is no longer
literature.
"""


def page() -> str:
    """The page as Markdown."""
    parts = [
        _HOW,
        "## Links\n",
        "| name | line rate after encoding | attainable | latency floor |",
        "|---|---|---|---|",
    ]
    for name in link_names():
        link = link_from_name(name)
        found = limits(link, "pingpong", "latency", 0)
        rate = "-" if link.rate_bits_per_s is None else f"{link.rate_bits_per_s / 1e9:.4g} Gb/s"
        most = (
            "-"
            if found.attainable_bytes_per_s is None
            else quantity.rate(found.attainable_bytes_per_s)
        )
        parts.append(f"| `{name}` | {rate} | {most} | {(found.floor_ns or 0) / 1e3:g} µs |")
    parts.append(
        "\nAttainable is at the largest MTU; with `--link 1gbe` at MTU 1500 it is 117.7 MB/s.\n"
    )
    parts += ["## Constants\n", "| name | value | unit | L | source |", "|---|---|---|---|---|"]
    for key, row in default_table().items():
        parts.append(
            f"| `{key}` | {row.value:g} | {row.unit} | {'L' if row.literature else ''} | {row.source} |"
        )
    return "\n".join(parts) + "\n"
