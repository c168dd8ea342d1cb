"""Read topologies: text in, `wireproof.model.fabric.Fabric` out. docs/topology.md shows each
format.
"""

import re

from wireproof.locate.topology.infiniband import (
    COLLECT,
    read_ibnetdiscover,
    read_lldp,
    read_opareport,
)
from wireproof.locate.topology.nodes import against, leaf_numbers, readable
from wireproof.locate.topology.written import read_own, read_slurm
from wireproof.model.errors import BadInput
from wireproof.model.located import Fabric

__all__ = [
    "FORMS",
    "against",
    "leaf_numbers",
    "read_ibnetdiscover",
    "read_lldp",
    "read_opareport",
    "read_own",
    "read_slurm",
    "read_topology",
]

FORMS = (
    "Slurm's topology.conf or `scontrol show topology`, ibnetdiscover, `opareport -o links`,"
    " lldpctl of several nodes, or TOML with [[switch]]"
)
_SIGNS = (
    (re.compile(r"^\s{0,20}\[\[\s?(?:switch|cable)\s?\]\]", re.MULTILINE), read_own),
    (
        re.compile(r'^(?:Switch|Ca|Rt)\s{1,8}\d{1,4}\s{1,8}"[SHR]-[0-9a-fA-F]', re.MULTILINE),
        read_ibnetdiscover,
    ),
    (
        re.compile(r"^\s{0,8}(?:<->|\d{1,4}g)\s{1,8}0x[0-9a-fA-F]{8,16}\s", re.MULTILINE),
        read_opareport,
    ),
    (
        re.compile(
            r"^.{0,255}?\blldp\..{1,64}?\.(?:chassis|port)\."
            r"|^.{0,255}?\bInterface:\s.{1,64}, via: ",
            re.M,
        ),
        read_lldp,
    ),
    (
        re.compile(r"^\s{0,20}(?:SwitchName|BlockName)\s{0,4}=", re.MULTILINE | re.IGNORECASE),
        read_slurm,
    ),
)
_REFUSED = (
    (
        re.compile(r"^(?:- )?topology:", re.MULTILINE),
        "is Slurm's YAML: give what `scontrol show topology` prints",
    ),
    (
        re.compile(r"^NodeGUID\s{1,20}Type\s{1,8}Name|Node Type Brief Summary", re.M),
        "has nodes without links: give `opareport -o links`",
    ),
    (re.compile(r"LLDP neighbors:"), f"names no LLDP neighbour: {COLLECT}"),
)


def read_topology(text: str, source: str) -> Fabric:
    """Return the fabric that ``text`` describes, whichever tool wrote it. ``source`` names the text
    in error messages.

    Raises BadInput with one sentence and the line if the text is empty, binary, unknown or
    contradictory.
    """
    readable(text, source)
    text = text.removeprefix("\ufeff")
    head = text[: 4 << 20]
    for sign, read in _SIGNS:
        if sign.search(head):
            return read(text, source)
    for sign, sentence in _REFUSED:
        if sign.search(head):
            raise BadInput(f"{source} {sentence}.")
    raise BadInput(f"{source} is not a known topology format: give {FORMS}.")
