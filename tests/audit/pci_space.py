"""Configuration spaces of made-up PCI Express devices, as sysfs has them."""

import struct
from dataclasses import dataclass

ROOT, UPSTREAM, DOWNSTREAM, ENDPOINT = 4, 5, 6, 0
_AT = 0x40
"""Where the PCI Express capability stands."""


@dataclass(frozen=True)
class Registers:
    """What a device's registers say: type of port, lower bus of a bridge, bytes, lanes, generation,
    control bits of access control.
    """

    kind: int
    secondary: int | None = None
    payload: int = 512
    relaxed: bool = True
    width: int = 16
    speed: int = 5
    acs: int | None = None


def space(one: Registers) -> bytes:
    """Registers of the base specification, 7.5.1 to 7.5.3 and 7.7.8."""
    data = bytearray(4096)
    struct.pack_into("<HHHH", data, 0, 0x15B3, 0x1021, 0, 0x10)
    data[0x0E] = 0 if one.secondary is None else 1
    data[0x19] = one.secondary or 0
    data[0x34] = _AT
    control = _code(one.payload) << 5 | _code(4096) << 12 | (0x10 if one.relaxed else 0)
    struct.pack_into("<BBH", data, _AT, 0x10, 0, one.kind << 4 | 2)
    struct.pack_into("<IH", data, _AT + 4, _code(512), control)
    struct.pack_into("<I", data, _AT + 0x0C, 16 << 4 | 5)
    struct.pack_into("<H", data, _AT + 0x12, one.width << 4 | one.speed)
    if one.acs is not None:
        struct.pack_into("<I", data, 0x100, 0x148 << 20 | 1 << 16 | 0x0001)  # error reporting first
        struct.pack_into("<I", data, 0x148, 1 << 16 | 0x000D)
        struct.pack_into("<HH", data, 0x14C, 0x7F, one.acs)
    return bytes(data)


def _code(size: int) -> int:
    """0 for 128 bytes, 5 for 4096."""
    return (size // 128).bit_length() - 1


def device(
    address: str, code: str, driver: str, config: bytes, numa: int
) -> dict[str, str | bytes]:
    folder = f"sys/bus/pci/devices/{address}"
    return {
        f"{folder}/class": f"0x{code}",
        f"{folder}/uevent": f"DRIVER={driver}",
        f"{folder}/numa_node": str(numa),
        f"{folder}/config": config,
    }


def gpu_node(rails: int) -> dict[str, str | bytes]:
    """An adapter and a GPU behind a switch of each rail. Wrong: rail 2 has a narrow link above its
    switch, rail 5's switch sends peers' traffic up, rail 6 sends small packets, rail 7 keeps order.
    """
    files: dict[str, str | bytes] = {}
    for rail in range(rails):
        numa, base = rail // 4, 0x10 * (rail + 1)
        acs = 0x1D if rail == 5 else 0
        narrow = 8 if rail == 2 else 16
        size = 128 if rail == 6 else 512
        adapter = Registers(ENDPOINT, payload=size, relaxed=rail != 7)
        for address, code, driver, registers in (
            (f"0000:00:{rail + 1:02x}.0", "060400", "pcieport",
             Registers(ROOT, secondary=base, width=narrow, speed=4 if rail == 2 else 5, acs=0x1D)),
            (f"0000:{base:02x}:00.0", "060400", "pcieport",
             Registers(UPSTREAM, secondary=base + 1, width=narrow, speed=4 if rail == 2 else 5)),
            (f"0000:{base + 1:02x}:00.0", "060400", "pcieport",
             Registers(DOWNSTREAM, secondary=base + 2, acs=acs)),
            (f"0000:{base + 1:02x}:01.0", "060400", "pcieport",
             Registers(DOWNSTREAM, secondary=base + 3, acs=acs)),
            (f"0000:{base + 2:02x}:00.0", "020000", "mlx5_core", adapter),
            (f"0000:{base + 3:02x}:00.0", "030200", "nvidia", Registers(ENDPOINT)),
        ):  # fmt: skip
            files |= device(address, code, driver, space(registers), numa)
    return files
