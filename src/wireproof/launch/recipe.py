"""Recipes for the command lines of known benchmarks, as values in ``recipes.toml``. Pure.

A recipe contains the program, the number of processes, the sizes, and the reason. The adapter adds
the program's options, the launchers add their options.
"""

import math
import re
from functools import cache
from typing import Literal

import msgspec

from wireproof.launch.engines import Family
from wireproof.model.errors import BadInput, suggestion
from wireproof.model.site import packaged
from wireproof.model.toml import read_toml

# --- ``hpccinf.txt``: the input of HPCC, which accepts no options and reads only this file in its
# working folder.

_ROWS = """\
HPLinpack benchmark input file
written by wireproof run hpcc: small matrices; only the rings and the ping-pong are wanted
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
{order}          Ns
1            # of NBs
80           NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
{rows}            Ps
{columns}            Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
##### This line (no. 32) is ignored (it serves as a separator). ######
0            Number of additional problem sizes for PTRANS
{order}          values of N
0            number of additional blocking sizes for PTRANS
80           values of NB
"""


def hpcc_input(processes: int) -> str:
    """Return the file for ``processes`` ranks: the most nearly square grid, and a matrix that takes
    seconds.
    """
    rows = next(one for one in range(math.isqrt(processes), 0, -1) if processes % one == 0)
    order = min(4000, 200 * max(2, math.isqrt(processes)))
    return _ROWS.format(rows=rows, columns=processes // rows, order=order)


Shape = Literal["ranks", "pair"]
"""``ranks``: an MPI starts the program on all hosts. ``pair``: a server on the second host, a
client on the first.
"""

DRIVER_STEPS = ("modprobe hfi1", "modprobe ib_ipoib", "ifup ib0")
"""Steps that RDMA over Omni-Path with the connection manager requires on every host, as root:
driver, IP over fabric, address.
"""


_FILE = "recipes.toml"


class BenchmarkRecipe(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A benchmark of a tool. ``tool`` is the adapter's name, ``program`` the installed program.

    ``pairs``: ranks per host. ``sizes`` empty: the program's default sweep. ``family``: the MPI
    that includes it. ``one_sided``: it needs windows. ``two_ranks``: it refuses more ranks.
    ``pins_itself``: the program has an option for the core. ``result_file``: the file that it
    writes instead of printing. ``root_steps`` are printed for a person to run. ``why``: a sentence.
    """

    tool: str
    program: str
    benchmark: str
    shape: Shape
    why: str
    install: str
    sizes: tuple[int, ...] = ()
    iterations: int | None = None
    seconds: float | None = None
    omit_seconds: float | None = None
    socket_buffer_bytes: int | None = None
    pairs: int = 1
    family: Family | None = None
    one_sided: bool = False
    two_ranks: bool = False
    pins_itself: bool = False
    rdma: bool = False
    rdma_cm: bool = False
    result_file: str = ""
    input_file: str = ""
    client_extra: tuple[str, ...] = ()
    server_extra: tuple[str, ...] = ()
    root_steps: tuple[str, ...] = ()


@cache
def _recipes() -> tuple[BenchmarkRecipe, ...]:
    """Return the recipes in the order of the file. The first recipe of a tool is its default."""
    tree = read_toml(packaged(__package__, _FILE), _FILE)
    rows = [{**tree["tool"][row["tool"]], **row} for row in tree["recipe"]]
    return msgspec.convert(tuple(rows), tuple[BenchmarkRecipe, ...])


def recipes_of(tool: str) -> tuple[BenchmarkRecipe, ...]:
    """Return the recipes of a tool (``osu``) or of a program (``IMB-P2P``), ignoring case; ""
    selects all.
    """
    name = tool.lower()
    return tuple(one for one in _recipes() if name in ("", one.tool.lower(), one.program.lower()))


def _like(recipe: BenchmarkRecipe, benchmark: str) -> BenchmarkRecipe:
    """Return a recipe for another benchmark of a known program: its default sweep, because no
    better sizes are known.
    """
    program = benchmark if recipe.tool in ("osu", "perftest") else recipe.program
    why = "not a documented recipe: the program's defaults apply"
    return msgspec.structs.replace(
        recipe,
        benchmark=benchmark,
        program=program,
        why=why,
        sizes=(),
        pairs=1,
        iterations=None,
        one_sided=False,
        two_ranks=False,
    )


def _of_family(program: str) -> BenchmarkRecipe:
    """Return a recipe for a program whose name belongs to a family: osu_multi_lat, ib_atomic_bw."""
    for prefix, tool in (("osu_", "osu"), ("ib_", "perftest")):
        if program.lower().startswith(prefix) and program.replace("_", "").isalnum():
            return _like(recipes_of(tool)[0], program)
    names = sorted({name for one in _recipes() for name in (one.tool, one.program)}, key=str.lower)
    raise BadInput(f"there is no recipe for {program[:40]!r}; {suggestion(program, names)}")


def find_recipe(tool: str, benchmark: str = "") -> BenchmarkRecipe:
    """Return the recipe of ``osu osu_bw``, ``osu_bw``, ``imb PingPong``, ``IMB-RMA Unidir_put``,
    ``iperf3``.

    Another benchmark of a known tool is allowed and gets the program's defaults; its adapter may
    refuse it. Raise BadInput for an unknown tool, with the nearest names.
    """
    recipes = recipes_of(tool)
    if not recipes:
        return _of_family(tool)
    if not benchmark:
        return recipes[0]
    program = benchmark.lower()
    for recipe in recipes:
        if program in (recipe.benchmark.lower(), recipe.benchmark.lower().removeprefix("osu_")):
            return recipe
    if re.fullmatch(r"[\w+][\w+-]*", benchmark) is None:
        raise BadInput(f"{benchmark[:40]!r} cannot be the name of a benchmark of {tool}.")
    return _like(recipes[0], benchmark)
