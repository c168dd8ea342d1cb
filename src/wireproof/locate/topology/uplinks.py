"""Look up the leaf of each node, and the up-links of each leaf in the order of the fabric."""

from wireproof.model.fabric import Fabric


def switch_of(fabric: Fabric | None) -> dict[str, str]:
    """Map each node to its switch; if it has several, to the first that the fabric lists."""
    switches: dict[str, str] = {}
    for attachment in fabric.attachments if fabric else ():
        switches.setdefault(attachment.node, attachment.switch)
    return switches


def uplinks(fabric: Fabric) -> dict[str, list[str]]:
    """Map each leaf to the switch at the far end of each of its up-links; parallel cables are
    listed separately.
    """
    far_ends: dict[str, list[str]] = {attachment.switch: [] for attachment in fabric.attachments}
    for cable in fabric.cables:
        for low, high in ((cable.one, cable.other), (cable.other, cable.one)):
            if low in far_ends and fabric.levels.get(high, 0) > fabric.levels.get(low, 0):
                far_ends[low] += [high] * min(cable.count, 10_000)
    return far_ends


def positions(fabric: Fabric) -> dict[str, int]:
    """Map each node to its position on its leaf, from 0: by port if all ports of the leaf are
    numbers, else in listed order.
    """
    first: dict[str, tuple[str, str]] = {}
    for attachment in fabric.attachments:
        first.setdefault(attachment.node, (attachment.switch, attachment.port))
    members: dict[str, list[tuple[str, str]]] = {}
    for node, (switch, port) in first.items():
        members.setdefault(switch, []).append((node, port))
    places: dict[str, int] = {}
    for on_leaf in members.values():
        if all(port.isdecimal() and len(port) < 10 for _, port in on_leaf):
            on_leaf.sort(key=lambda item: int(item[1]))
        places |= {node: index for index, (node, _) in enumerate(on_leaf)}
    return places
