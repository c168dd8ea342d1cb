"""Where nodes hang, and what leaves each leaf upwards: its up-links in the order in which the
fabric lists them.
"""

from wireproof.model.fabric import Fabric


def switch_of(fabric: Fabric | None) -> dict[str, str]:
    """Node to its switch; of a node with several, the first that the fabric lists."""
    found: dict[str, str] = {}
    for each in fabric.attachments if fabric else ():
        found.setdefault(each.node, each.switch)
    return found


def uplinks(fabric: Fabric) -> dict[str, list[str]]:
    """Leaf to the switch at the far end of each of its up-links; parallel cables are listed one by
    one.
    """
    found: dict[str, list[str]] = {each.switch: [] for each in fabric.attachments}
    for cable in fabric.cables:
        for low, high in ((cable.one, cable.other), (cable.other, cable.one)):
            if low in found and fabric.levels.get(high, 0) > fabric.levels.get(low, 0):
                found[low] += [high] * min(cable.count, 10_000)
    return found


def positions(fabric: Fabric) -> dict[str, int]:
    """Node to its place on its leaf, from 0: by port where all ports of the leaf are numbers, else
    as listed.
    """
    first: dict[str, tuple[str, str]] = {}
    for each in fabric.attachments:
        first.setdefault(each.node, (each.switch, each.port))
    members: dict[str, list[tuple[str, str]]] = {}
    for node, (switch, port) in first.items():
        members.setdefault(switch, []).append((node, port))
    places: dict[str, int] = {}
    for own in members.values():
        if all(port.isdecimal() and len(port) < 10 for _, port in own):
            own.sort(key=lambda one: int(one[1]))
        places |= {node: index for index, (node, _) in enumerate(own)}
    return places
