"""Worlds of pauses as files: what ``wireproof pfc --from`` is given."""

from pathlib import Path

from tests.zoo.animals import ZOO
from tests.zoo.pfc_adapters import NIC, SECONDS, Adapter
from tests.zoo.pfc_worlds import World, marks
from tests.zoo.ramp import Machine
from tests.zoo.tree import lay_out

_BOOTED_S = 1000


def as_trees(folder: Path, adapter: Adapter, world: World) -> Path:
    """``before`` and ``after``, each with a tree for each host."""
    animal = next(one for one in ZOO if one.key == adapter.zoo)
    for host in world.hosts:
        before, after = marks(adapter, world, host)
        for name, counters, uptime in (
            ("before", before, _BOOTED_S),
            ("after", after, _BOOTED_S + SECONDS),
        ):
            root = folder / name / host
            lay_out(root, Machine(animal.ports), host)
            _counters(root, counters)
            (root / "proc" / "uptime").write_text(f"{uptime}.00 1.00\n")
            for words, text in _commands(world).items():
                _put(root / "sos_commands" / "networking" / words.replace(" ", "_"), text)
    return folder


def as_texts(folder: Path, adapter: Adapter, world: World) -> Path:
    """Recorded terminals: one text for each host."""
    for host in world.hosts:
        for name, counters in zip(("before", "after"), marks(adapter, world, host), strict=True):
            shown = {"ethtool -S " + NIC: _statistics(counters), **_commands(world)}
            lines = [f"[root@{host} ~]# {words}\n{text}" for words, text in shown.items()]
            _put(folder / name / f"{host}.txt", "\n".join(lines))
    return folder


def _put(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def _statistics(counters: dict[str, int]) -> str:
    place = f"ethtool/{NIC}/"
    lines = [
        f"     {name.removeprefix(place)}: {value}"
        for name, value in counters.items()
        if name.startswith(place)
    ]
    return "\n".join(["NIC statistics:", *lines]) + "\n"


def _counters(root: Path, counters: dict[str, int]) -> None:
    _put(root / "ethtool" / NIC, _statistics(counters))
    for name, value in counters.items():
        if name.startswith("ib/"):
            _, device, port, *rest = name.split("/")
            folder = root / "sys" / "class" / "infiniband" / device / "ports" / port
            _put(folder / "/".join(rest), f"{value}\n")


def _commands(world: World) -> dict[str, str]:
    """What the settings' commands print."""
    found: dict[str, str] = {}
    if world.link is not None:
        word = "on" if world.link else "off"
        text = f"Pause parameters for {NIC}:\nAutonegotiate:\toff\nRX:\t\t{word}\nTX:\t\t{word}\n"
        found[f"ethtool -a {NIC}"] = text
    if world.lossless is not None:
        pairs = [f"{one}:{'on' if one in world.lossless else 'off'}" for one in range(8)]
        text = f"pfc-cap 8 macsec-bypass off delay 0\nprio-pfc {' '.join(pairs)}\n"
        found[f"dcb pfc show dev {NIC}"] = text
    return found
