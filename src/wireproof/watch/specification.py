"""The benchmark, its hosts, and the options that the user chose in addition to its recipe."""

import dataclasses
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from wireproof.launch.recipe import BenchmarkRecipe, find_recipe, recipes_of
from wireproof.model.claim import LinkClaim
from wireproof.model.errors import BadInput
from wireproof.model.series import Role, ToolRequest
from wireproof.options.hosts import parse_hosts
from wireproof.options.sizes import parse_sizes
from wireproof.options.table import Options
from wireproof.physics.rails import claim_of_rails
from wireproof.target import Target
from wireproof.target.resolve import resolve_target
from wireproof.watch.benchmark_document import RecipeDocument
from wireproof.watch.hosts import hosts_of_allocation


@dataclasses.dataclass(frozen=True, kw_only=True)
class BenchmarkSpecification:
    """A recipe on a target.

    None leaves a choice to the recipe, empty ``sizes`` to the program; ``extra``: options of the
    program itself. ``dry``: the commands are only printed, so neither the program nor an MPI is
    needed. ``read_by_people``: prefer the tool's table to its JSON.
    """

    recipe: BenchmarkRecipe
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
    psm_statistics: bool = False

    @property
    def path(self) -> str:
        """Return the path of the results, as for ``judge --path``: the fabric that the MPI was set
        to use, or the tool's own path.
        """
        return _path_of(self.fabric, self.recipe)

    @property
    def nic(self) -> str:
        """Return the claimed NIC, or ""."""
        return self.target.nics[0] if self.target.nics else ""

    @property
    def server_address(self) -> str:
        """Return the address at which the client connects to the server: on the claimed network if
        known.
        """
        if self.address:
            return self.address
        if len(self.target.addresses) > 1:
            return self.target.addresses[1]
        return self.target.hosts[1] if self.target.hosts else "127.0.0.1"

    def tool_request(self, program: str, role: Role) -> ToolRequest:
        """Return the request from which the tool's adapter builds the program's options."""
        recipe = self.recipe
        by_fabric = recipe.tool == "fi_pingpong" and self.fabric
        server = role == "server"
        return ToolRequest(
            program=program,
            benchmark=self.fabric if by_fabric else recipe.benchmark,
            role=role,
            server=self.server_address if role == "client" else "",
            port=self.port,
            sizes=recipe.sizes if self.sizes is None else self.sizes,
            iterations=self.iterations or recipe.iterations,
            seconds=self.seconds or recipe.seconds,
            omit_seconds=recipe.omit_seconds,
            socket_buffer_bytes=recipe.socket_buffer_bytes,
            cpu=self.cpu if recipe.pins_itself else None,
            device=self.nic if recipe.rdma else "",
            rdma_cm=recipe.rdma_cm,
            extra=recipe.server_extra if server else (*recipe.client_extra, *self.extra),
        )


_AS_THEY_ARE = (
    *("iterations", "seconds", "pairs", "cpu", "port"),
    *("mpi", "program", "psm_statistics"),
)


def specification(
    tool: str,
    words: Sequence[str],
    settings: Options,
    options: Mapping[str, Any],
    environment: Mapping[str, str],
    *,
    read_by_people: bool,
    dry: bool,
) -> BenchmarkSpecification:
    """Parse and check every option, and find the target.

    ``words``: the benchmark, if named, and options of the program itself; ``options``: those of
    ``wireproof run`` by name. Raises ``BadInput``.
    """
    named = bool(words) and not words[0].startswith("-")
    recipe = find_recipe(tool, words[0] if named else "")
    fabric = options["fabric"] or ""
    link = _link(options, _path_of(fabric, recipe), settings.nic)
    return BenchmarkSpecification(
        recipe=recipe,
        target=_target_of_recipe(recipe, settings, environment, lab=options["lab"], link=link),
        sizes=_sizes_of(options["sizes"]),
        address=_address_of(options["address"]),
        fabric=fabric,
        **{name: options[name] for name in _AS_THEY_ARE},
        extra=tuple(words[1:] if named else words),
        dry=dry,
        read_by_people=read_by_people,
    )


def _link(options: Mapping[str, Any], path: str, nics: str) -> LinkClaim | None:
    link = options["link"]
    if not link:
        return None
    return claim_of_rails(link, nics, path=path, mtu=options["mtu"], pcie=options["pcie"])


def recipe_documents(tool: str) -> list[RecipeDocument]:
    """Return every recipe, or those of one tool. Raises ``BadInput`` for an unknown tool."""
    if tool:
        find_recipe(tool)
    return [
        RecipeDocument(
            tool=recipe.tool, program=recipe.program, benchmark=recipe.benchmark, why=recipe.why
        )
        for recipe in recipes_of(tool)
    ]


def _path_of(fabric: str, recipe: BenchmarkRecipe) -> str:
    """Return the name of the messages' path: a fabric, ``rdma`` or ""."""
    return fabric or ("rdma" if recipe.rdma else "")


def _target_of_recipe(
    recipe: BenchmarkRecipe,
    settings: Options,
    environment: Mapping[str, str],
    *,
    lab: str | None = None,
    link: LinkClaim | None = None,
) -> Target:
    """Return hosts, a lab's nodes, or this machine, with the claimed link."""
    wanted = dataclasses.replace(settings, lab=lab, scheduler="none")
    chosen = settings.origin("hosts") == "option"
    notes: tuple[str, ...] = ()
    allocated = () if chosen or lab is not None else hosts_of_allocation(environment)
    if len(allocated) > 1:
        wanted = dataclasses.replace(wanted, hosts=allocated)
        notes = (
            f"the {len(allocated)} nodes of the Slurm job take part; choose others with --hosts",
        )
    target = resolve_target(wanted, environment)
    target = dataclasses.replace(target, link=link or target.link, notes=(*notes, *target.notes))
    return target if chosen else _narrowed(target, recipe)


def _narrowed(target: Target, recipe: BenchmarkRecipe) -> Target:
    """Keep the first two of several hosts that the user did not choose, for a program between
    two.
    """
    if len(target.hosts) <= 2 or not (recipe.shape == "pair" or recipe.two_ranks):
        return target
    first, second = target.hosts[:2]
    between = f"{recipe.program} runs between two hosts: {first} and {second}"
    return dataclasses.replace(target.only((0, 1)), notes=(*target.notes, between))


def _address_of(text: str) -> str:
    """Check an address or a host name: it becomes an argument of a program and must not look like
    an option.
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


def _sizes_of(text: str | None) -> tuple[int, ...] | None:
    """Parse the sizes: None for the recipe's, () for the program's default list (``own``)."""
    if text is None or text.strip().lower() == "own":
        return None if text is None else ()
    return parse_sizes(text)
