"""Every adapter of the zoo."""

from tests.zoo import clusters, ethernet, fabric, other_fabrics, virtual
from tests.zoo.parts import Adapter

ZOO: tuple[Adapter, ...] = (
    *fabric.MLX,
    *other_fabrics.ADAPTERS,
    *ethernet.ADAPTERS,
    *virtual.ADAPTERS,
    *clusters.ADAPTERS,
)


def adapter(key: str) -> Adapter:
    """The adapter of that key."""
    return next(one for one in ZOO if one.key == key)
