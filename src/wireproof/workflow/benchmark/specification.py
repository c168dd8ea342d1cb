"""Which benchmark runs where, and what the user chose beyond its recipe."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import TypedDict

from wireproof.launch.programs.recipe import Recipe, find_recipe
from wireproof.model.claim import LinkClaim
from wireproof.model.errors import BadInput
from wireproof.settings.hosts import parse_hosts
from wireproof.settings.resolve import Settings
from wireproof.settings.sizes import parse_sizes
from wireproof.workflow.prove.hosts import hosts_of_allocation
from wireproof.workflow.target.resolve import TargetSpecification, resolve_target
from wireproof.workflow.target.target import Target

__all__ = ["BenchmarkOptions", "BenchmarkSpecification", "specification"]


class BenchmarkOptions(TypedDict, total=False):
    """As the options of ``wireproof run`` are written; None leaves it to the recipe."""

    lab: str | None
    link: str | None
    mtu: int | None
    pcie: str
    sizes: str | None
    iterations: int | None
    seconds: float | None
    pairs: int | None
    cpu: int | None
    port: int | None
    address: str
    mpi: str
    fabric: str | None
    program: Path | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class BenchmarkSpecification:
    """A recipe on a target. None leaves a choice to the recipe, empty ``sizes`` to the program;
    ``extra`` are the program's own options. ``dry``: the commands are only read, so that neither
    program nor MPI has to be there. ``read_by_people``: a table is better than the tool's JSON.
    """

    recipe: Recipe
    target: Target
    sizes: tuple[int, ...] | None = None
    iterations: int | None = None
    seconds: float | None = None
    pairs: int | None = None
    cpu: int | None = None
    port: int | None = None
    address: str = ""
    mpi: str = ""
    fabric: str = ""
    program: Path | None = None
    extra: tuple[str, ...] = ()
    dry: bool = False
    read_by_people: bool = True

    @property
    def path(self) -> str:
        """What ``judge --path`` would be given for the results."""
        return _path(self.fabric, self.recipe)

    @property
    def nic(self) -> str:
        """The claimed one; "" for none."""
        return self.target.nics[0] if self.target.nics else ""


def specification(
    tool: str,
    words: tuple[str, ...],
    settings: Settings,
    options: BenchmarkOptions,
    environment: Mapping[str, str],
) -> BenchmarkSpecification:
    """Every option typed and checked, and the target found. ``words``: the benchmark, if it is
    named, and the program's own options. Raises BadInput.
    """
    named = bool(words) and not words[0].startswith("-")
    recipe = find_recipe(tool, words[0] if named else "")
    fabric = options.get("fabric") or ""
    link = _link(options, _path(fabric, recipe))
    return BenchmarkSpecification(
        recipe=recipe,
        target=_target(recipe, settings, options.get("lab"), link, environment),
        sizes=_sizes(options.get("sizes")),
        iterations=options.get("iterations"),
        seconds=options.get("seconds"),
        pairs=options.get("pairs"),
        cpu=options.get("cpu"),
        port=options.get("port"),
        address=_address(options.get("address", "")),
        mpi=options.get("mpi", ""),
        fabric=fabric,
        program=options.get("program"),
        extra=words[1:] if named else words,
    )


def _path(fabric: str, recipe: Recipe) -> str:
    """The fabric that the MPI was told to use, or what the tool itself uses."""
    return fabric or ("rdma" if recipe.rdma else "")


def _link(options: BenchmarkOptions, path: str) -> LinkClaim | None:
    from wireproof.physics import claim_from_text

    link = options.get("link")
    if not link:
        return None
    return claim_from_text(link, path=path, mtu=options.get("mtu"), pcie=options.get("pcie", ""))


def _target(
    recipe: Recipe,
    settings: Settings,
    lab: str | None,
    link: LinkClaim | None,
    environment: Mapping[str, str],
) -> Target:
    """Hosts, a lab's nodes, or this machine, with the link that is claimed."""
    wanted = TargetSpecification.from_settings(settings, lab=lab)
    chosen = settings.hosts.origin == "option"
    said: tuple[str, ...] = ()
    allocated = () if chosen or lab is not None else hosts_of_allocation(environment)
    if len(allocated) > 1:
        wanted = dataclasses.replace(wanted, hosts=allocated)
        said = (f"the {len(allocated)} nodes of the Slurm job take part; --hosts says otherwise",)
    target = resolve_target(wanted, environment)
    target = dataclasses.replace(target, link=link or target.link, said=(*said, *target.said))
    return target if chosen else _narrowed(target, recipe)


def _narrowed(target: Target, recipe: Recipe) -> Target:
    """The first two of more hosts that nobody chose, for a program between two."""
    if len(target.hosts) <= 2 or not (recipe.shape == "pair" or recipe.two_ranks):
        return target
    first, second = target.hosts[:2]
    between = f"{recipe.program} is between two hosts: {first} and {second}"
    return dataclasses.replace(target.only((0, 1)), said=(*target.said, between))


def _address(text: str) -> str:
    """An address or a host name: it becomes a word of a program's options, so it must not be
    one.
    """
    if not text:
        return ""
    try:
        return str(ip_address(text))
    except ValueError:
        names = parse_hosts(text)
        if len(names) != 1:
            raise BadInput(
                f"--address {text[:60]!r} names {len(names)} hosts: give one address."
            ) from None
        return names[0]


def _sizes(text: str | None) -> tuple[int, ...] | None:
    """The recipe's sizes when nothing is said, the program's own list for ``own``."""
    if text is None or text.strip().lower() == "own":
        return None if text is None else ()
    return parse_sizes(text)
