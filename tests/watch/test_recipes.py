"""Recipes: what is asked of each program, where it is found, and the command under each MPI.
Nothing is run.
"""

import os
import shlex
import struct
from pathlib import Path

import pytest

from wireproof.launch.command import (
    find_tool,
    nominal_mpi,
    pinned,
    prepare_program,
    shell_line,
    wanted_families,
)
from wireproof.launch.engines import Family, MpiInstall
from wireproof.launch.mpi.identify import read_needed
from wireproof.launch.recipe import DRIVER_STEPS, find_recipe, hpcc_input, recipes_of
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.target import Target, this_machine
from wireproof.watch import steps
from wireproof.watch.specification import BenchmarkSpecification
from wireproof.watch.steps import PreparedSteps, prepare_steps

TWO = ("n1", "n2")


def hosts(nic: str = "", names: tuple[str, ...] = TWO) -> Target:
    return Target(hosts=names, start_on=names, nics=(nic,) * len(names) if nic else ())


def dry(
    tool: str, benchmark: str = "", place: Target | None = None, **asked: object
) -> PreparedSteps:
    wanted = BenchmarkSpecification(
        recipe=find_recipe(tool, benchmark),
        target=place or hosts(),
        dry=True,
        program=None,
        **asked,  # type: ignore[arg-type]
    )
    return prepare_steps(wanted, os.environ)


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same commands on every machine: no tool and no MPI is found, so plain names are shown."""

    def none_found(*_: object) -> MpiInstall:
        raise CouldNotMeasure("no usable MPI.")

    monkeypatch.setattr(steps, "find_tool", lambda *_, **__: None)
    monkeypatch.setattr(steps, "mpi_for", none_found)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    for name in ("LD_PRELOAD", "I_MPI_ROOT"):
        monkeypatch.delenv(name, raising=False)


def words(prepared: PreparedSteps) -> list[str]:
    assert len(prepared.steps) == 1
    return list(prepared.steps[0].argv)


def test_the_documents_put_test_under_open_mpi_gets_what_its_script_lacks() -> None:
    prepared = dry("osu_put_bw", place=hosts("enp97s0"), fabric="tcp")
    assert words(prepared) == [
        *("mpirun", "--bind-to", "none", "--mca", "plm", "rsh", "--mca", "pml", "ob1", "--mca"),
        *("btl", "self,tcp", "--mca", "btl_tcp_if_include", "enp97s0", "--mca", "osc", "pt2pt"),
        *("--host", "n1,n2", "-np", "2", "--map-by", "ppr:1:node", "osu_put_bw"),
    ]
    assert any("MPI_Win_allocate" in note for note in prepared.notes)


def test_two_sided_tests_get_no_window_component() -> None:
    assert "osc" not in words(dry("osu_bw", place=hosts("enp97s0"), fabric="tcp"))


@pytest.mark.parametrize(
    ("fabric", "expected"),
    [
        ("tcp", {"FI_PROVIDER": "tcp", "FI_TCP_IFACE": "hsn0"}),
        ("psm2", {"FI_PROVIDER": "psm2"}),
        ("psm3", {"FI_PROVIDER": "psm3", "PSM3_NIC": "hsn0", "PSM3_HAL": "sockets"}),
        ("verbs", {"FI_PROVIDER": "verbs", "FI_VERBS_IFACE": "hsn0"}),
        ("ucx", {"FI_PROVIDER": "mlx", "UCX_NET_DEVICES": "hsn0"}),
    ],
)
def test_imb_under_intel_mpi_never_with_shared_memory(
    fabric: str, expected: dict[str, str]
) -> None:
    argv = words(dry("imb", "PingPong", place=hosts("hsn0"), fabric=fabric))
    said = {argv[i + 1]: argv[i + 2] for i, word in enumerate(argv) if word == "-genv"}
    assert said.items() >= {**expected, "I_MPI_FABRICS": "ofi", "I_MPI_DEBUG": "5"}.items()
    assert said["I_MPI_JOB_RESPECT_PROCESS_PLACEMENT"] == "0"
    assert argv[-8:] == ["-hosts", "n1,n2", "-ppn", "1", "-n", "2", "IMB-P2P", "PingPong"]


def test_intel_pins_by_its_own_means_and_the_others_by_taskset() -> None:
    intel = words(dry("imb", place=hosts("hsn0"), fabric="tcp", cpu=6))
    assert intel[intel.index("I_MPI_PIN_PROCESSOR_LIST") + 1] == "6"
    assert "taskset" not in intel
    for family in ("mpich", "openmpi"):
        argv = words(dry("osu_latency", place=hosts("hsn0"), mpi=family, cpu=6))
        assert argv[argv.index("taskset") :] == ["taskset", "-c", "6", "osu_latency", "-m", "8:8"]
    assert pinned(["a"], 3, "intel", lab=True) == (["taskset", "-c", "3", "a"], {})
    assert pinned(["a"], None, "mpich") == (["a"], {})


@pytest.mark.parametrize("family", ["mpich", "intel", "openmpi"])
def test_thirty_two_pairs_are_between_the_hosts_and_not_inside_them(family: Family) -> None:
    argv = words(dry("osu_mbw_mr", place=hosts("hsn0"), mpi=family))
    assert argv[-3:] == ["osu_mbw_mr", "-m", "8:8"]
    joined = " ".join(argv)
    assert (
        "--host n1:32,n2:32 -np 64 --map-by ppr:32:node" in joined
        or "-hosts n1,n2 -ppn 32 -n 64" in joined
    )


def test_the_documents_sizes() -> None:
    assert words(dry("osu", "osu_bw"))[-3:] == ["osu_bw", "-m", "1048576:1048576"]
    assert words(dry("osu", "latency"))[-3:] == ["osu_latency", "-m", "8:8"]
    assert words(dry("osu_bw", sizes=()))[-1] == "osu_bw"
    assert words(dry("osu_latency", sizes=(64, 128), iterations=7, extra=("-x", "3")))[-7:] == [
        "osu_latency",
        "-m",
        "64:128",
        "-i",
        "7",
        "-x",
        "3",
    ]


def test_one_machine_is_said_to_prove_no_wire() -> None:
    prepared = dry("osu_bw", place=this_machine())
    assert any("no wire is measured" in note for note in prepared.notes)
    assert words(prepared)[:1] == ["mpirun"]


def test_a_missing_tool_is_one_sentence_with_what_to_install() -> None:
    with pytest.raises(
        CouldNotMeasure, match=r"osu_bw was not found: build the OSU .* OSU_HOME; --dry-run"
    ):
        prepare_steps(
            BenchmarkSpecification(recipe=find_recipe("osu_bw"), target=hosts()), os.environ
        )


def test_tools_and_benchmarks_by_either_name() -> None:
    assert find_recipe("OSU").program == "osu_latency"
    assert find_recipe("imb", "unidir_put").program == "IMB-RMA"
    assert find_recipe("IMB-MPI1", "pingpong").program == "IMB-MPI1"
    assert find_recipe("ib_write_bw").rdma_cm
    other = find_recipe("osu_multi_lat")
    assert (other.tool, other.program, other.sizes) == ("osu", "osu_multi_lat", ())
    assert find_recipe("IMB-MPI1", "Bcast").benchmark == "Bcast"


@pytest.mark.parametrize(
    ("tool", "benchmark"),
    [
        ("osuu", ""),
        ("", "x; rm"),
        ("imb", "-x"),
        ("osu_$(id)", ""),
        ("imb", "Ping Pong"),
        ("\x1b[31m", ""),
    ],
)
def test_what_is_no_tool_is_refused(tool: str, benchmark: str) -> None:
    with pytest.raises(BadInput) as caught:
        find_recipe(tool or "imb", benchmark)
    assert "\x1b" not in str(caught.value)


def test_every_recipe_has_a_reason_and_a_way_to_install() -> None:
    for one in recipes_of(""):
        assert one.why
        assert one.install
        assert find_recipe(one.program, one.benchmark) == one


@pytest.mark.parametrize(
    ("processes", "grid"), [(2, (1, 2)), (4, (2, 2)), (6, (2, 3)), (7, (1, 7)), (64, (8, 8))]
)
def test_hpcc_gets_the_squarest_grid(processes: int, grid: tuple[int, int]) -> None:
    rows = hpcc_input(processes).splitlines()
    assert [int(rows[i].split()[0]) for i in (10, 11)] == list(grid)
    assert rows[31].startswith("#####")
    assert len(rows) == 36


def test_a_line_can_be_pasted() -> None:
    line = shell_line(["prog", "a b", "$HOME", "A", "1"], {"A": "1", "B": "x y"}, ("C",))
    assert line == "env -u C B='x y' prog 'a b' '$HOME' A 1"
    assert shlex.split(line)[-4:] == ["a b", "$HOME", "A", "1"]


def test_programs_are_found_where_people_put_them(tmp_path: Path) -> None:
    def program(*parts: str) -> Path:
        path = tmp_path.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
        return path

    osu = program("osu", "libexec", "osu-micro-benchmarks", "mpi", "pt2pt", "osu_bw")
    imb = program("impi", "bin", "IMB-MPI1")
    red_hat = program("path", "mpitests-osu_latency")
    environment = {"OSU_HOME": str(tmp_path / "osu"), "PATH": f"relative:{tmp_path / 'path'}"}
    assert find_tool("osu_bw", environment=environment) == osu
    assert find_tool("osu_latency", environment=environment) == red_hat
    assert find_tool("IMB-MPI1", environment=environment) is None
    assert (
        find_tool(
            "IMB-MPI1", launcher=tmp_path / "impi" / "bin" / "mpiexec", environment=environment
        )
        == imb
    )
    assert find_tool("IMB-MPI1", environment={"I_MPI_ROOT": str(tmp_path / "impi")}) == imb
    assert find_tool("osu_bw", given=tmp_path, environment={}) == osu
    assert find_tool("anything", given=osu, environment={}) == osu
    with pytest.raises(BadInput, match="no program osu_bw"):
        find_tool("osu_bw", given=tmp_path / "nowhere", environment={})


def elf(path: Path, needed: list[str]) -> Path:
    """A small ELF64 file with a dynamic section that asks for ``needed``."""
    strings = b"\0" + b"".join(name.encode() + b"\0" for name in needed)
    offsets, at = [], 1
    for name in needed:
        offsets.append(at)
        at += len(name) + 1
    table_at = 64 + 2 * 56
    dynamic_at = table_at + len(strings)
    dynamic = b"".join(struct.pack("<qQ", 1, offset) for offset in offsets)
    dynamic += struct.pack("<qQ", 5, table_at) + struct.pack("<qQ", 0, 0)
    total = dynamic_at + len(dynamic)
    header = b"\x7fELF\x02\x01\x01" + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, total, total, 4096)
    section = struct.pack(
        "<IIQQQQQQ", 2, 6, dynamic_at, dynamic_at, dynamic_at, len(dynamic), len(dynamic), 8
    )
    path.write_bytes(header + load + section + strings + dynamic)
    return path


def test_a_program_says_which_mpi_it_was_linked_with(tmp_path: Path) -> None:
    program = elf(tmp_path / "osu_bw", ["libm.so.6", "libmpi.so.40", "libc.so.6"])
    assert read_needed(program) == ("libm.so.6", "libmpi.so.40", "libc.so.6")
    assert wanted_families(program) == ("libmpi.so.40", ("openmpi",))
    for size in range(0, program.stat().st_size, 7):
        cut = tmp_path / "cut"
        cut.write_bytes(program.read_bytes()[:size])
        assert isinstance(wanted_families(cut), tuple)  # a torn file is a file that does not say
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\nexec mpi\n")
    assert wanted_families(script) == ("", ())


def test_the_users_own_variables_do_not_reach_another_mpi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("I_MPI_ROOT", "/opt/intel")
    prepared = dry("osu_bw", mpi="openmpi", place=hosts("hsn0"))
    assert "I_MPI_ROOT" in prepared.steps[0].unset
    assert prepared.steps[0].line.startswith("env -u I_MPI_ROOT ")


def test_any_program_under_an_mpi_has_no_engine_in_it() -> None:
    for family in ("mpich", "intel", "openmpi"):
        command = prepare_program(
            nominal_mpi(family, None), ["app", "--x"], hosts=TWO, folder="/tmp/x"
        )
        assert command.argv[-2:] == ("app", "--x")
        assert any(word in command.argv for word in ("-wdir", "--wdir"))
        assert "wireproof-engine" not in " ".join(command.argv)


def test_omni_path_steps_are_for_omni_path() -> None:
    assert DRIVER_STEPS == ("modprobe hfi1", "modprobe ib_ipoib", "ifup ib0")
