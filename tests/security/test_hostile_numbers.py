"""Frames, logs and tables with numbers that nobody measures: refused with the line, never believed,
never a crash.
"""

import contextlib
import json
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.audit.trees import judge_machine
from tests.fuzz.targets import TARGETS, _document
from tests.synthetic import World, run_of

from wireproof.audit import expression, host, lacking, reading
from wireproof.audit.job import catalogue
from wireproof.audit.machine import machine_of
from wireproof.cli import main
from wireproof.experiment.study import readback
from wireproof.instrument import ending, launcher_messages
from wireproof.launch.mpi import openmpi
from wireproof.launch.schedulers import slurm
from wireproof.locate.causes import properties
from wireproof.logs.psm3.statistics import statistics
from wireproof.logs.readers import read
from wireproof.logs.readers.rows import number
from wireproof.model.errors import BadInput
from wireproof.model.frames import BadFrame, decode_frame, unsound
from wireproof.model.quantity import whole
from wireproof.model.record import FactFrame
from wireproof.physics.table import default_table, override
from wireproof.store import pair_table
from wireproof.store.load import load_document, load_run
from wireproof.store.pairs import open_pairs
from wireproof.store.result import read_result
from wireproof.tune import allowed
from wireproof.workflow.locate import from_world

STORED = Path(__file__).resolve().parents[1] / "golden" / "stored"
RUN = run_of(World(link="10gbe", mtu=9000, sizes=(8, 65536)))
POINT = json.loads(msgspec.json.encode(RUN.points[2]))


def _with(path: str, value: str) -> bytes:
    """The frame with a raw JSON value in one place."""
    frame = json.loads(json.dumps(POINT))
    inside: Any = frame
    *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    for step in way:
        inside = inside[step]
    inside[last] = "@@"
    return json.dumps(frame).replace('"@@"', value).encode()


HOSTILE = [
    ("pairs.0.batch_ns.3", "5e-324"),
    ("pairs.0.batch_ns.0", "-1.0"),
    ("pairs.0.batch_ns.0", "1e300"),
    ("pairs.0.estimate.median_ns", "1e-320"),
    ("pairs.0.estimate.high_ns", "0"),
    ("pairs.0.estimate.low_ns", "1e18"),
    ("pairs.0.messages_forward", "-1"),
    ("pairs.0.payload_forward_bytes", "18446744073709551616"),
    ("message_bytes", "-8"),
    ("message_bytes", "18446744073709551616"),
    ("pairs.0.origin", "4294967296"),
    ("message_bytes", "9223372036854775807"),
    ("partitions", "0"),
    ("threads", "0"),
    ("pairs.0.batch_ns", "[0.0, 0.0]"),
    ("elapsed_ns", "-0.5"),
    ("elapsed_ns", "1e999"),
    ("elapsed_ns", "NaN"),
    ("id", "-1"),
    ("pairs.0.operations_per_batch", "1" + "0" * 400),
    ("witness.0.interval_ns", "-3"),
    ("witness.0.rank", "-1"),
]


@pytest.mark.parametrize(("path", "value"), HOSTILE)
def test_a_frame_with_a_number_that_cannot_be_is_refused(path: str, value: str) -> None:
    assert decode_frame(json.dumps(POINT).encode())
    with pytest.raises(BadFrame):
        decode_frame(_with(path, value))


@pytest.mark.parametrize("value", ["-1", "18446744073709551616"])
def test_a_counter_is_a_count(value: str) -> None:
    counters = '{"net/hsn0/tx_bytes": [0, %s]}'
    assert decode_frame(_with("witness.0.counters", counters % "18446744073709551615"))
    with pytest.raises(BadFrame, match="counters"):
        decode_frame(_with("witness.0.counters", counters % value))


@pytest.mark.parametrize("value", ["-1", "18446744073709551616"])
def test_a_standing_counter_has_64_bits(value: str) -> None:
    """A counter of the upper half was refused, and the whole run with it."""
    idle = (
        '{"frame":"idle","rank":0,"interval_ns":1.0,'
        '"standing":{"ib/hfi1_0/1/counters/port_rcv_data":%s}}'
    )
    assert decode_frame((idle % "18446744073708849803").encode())
    with pytest.raises(BadFrame, match="standing"):
        decode_frame((idle % value).encode())


def _store(folder: Path, document: dict[str, Any], frames: list[bytes]) -> Path:
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / "run.json").write_text(json.dumps(document), encoding="utf-8")
    (folder / "frames.jsonl").write_bytes(b"\n".join(frames) + b"\n")
    return folder


def test_a_folder_with_such_a_frame_is_bad_input_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An impossible stored number is bad input, and the message names the file and the line."""
    good = [msgspec.json.encode(one) for one in (RUN.open, *RUN.hosts)]
    folder = _store(tmp_path / "run", _document(0), [*good, _with("pairs.0.batch_ns.3", "5e-324")])
    with pytest.raises(BadInput, match=r"frames.jsonl, line 4: .*pairs\[0\]\.batch_ns is 5e-324"):
        load_run(folder)
    assert main(["locate", str(folder)]) == 2
    assert "line 4" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("claim.link.rate_bits_per_s", -1),
        ("claim.link.mtu", -1),
        ("claim.hosts.0.rank", 1 << 40),
        ("plan.seed", -1),
        ("plan.points.0.message_bytes", 1 << 70),
    ],
)
def test_a_document_with_a_number_that_cannot_be_is_refused(
    tmp_path: Path, path: str, value: float
) -> None:
    document = json.loads(json.dumps(_document(0)))
    inside: Any = document
    *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    for step in way:
        inside = inside[step]
    inside[last] = value
    with pytest.raises(BadInput, match=r"run.json has an impossible number"):
        load_document(_store(tmp_path / "run", document, []))


def test_a_constant_of_a_thousand_digits_is_refused() -> None:
    for value in ("1" + "0" * 400, "-1", "nan", "inf", "1e300"):
        with pytest.raises(BadInput, match="finite number"):
            override(default_table(), f"[floor]\ntcp = {value}\n")


@pytest.mark.parametrize(
    "line",
    [
        "sigma = nan",
        "sigma = 1e308",
        "rate = inf",
        "spread = -1",
        "tail_size = 1e308",
        "uplink_rate = 1e308",
        "[[faults]]\nkind = 'node'\nnode = 1\nshare = nan",
        "[[faults]]\nkind = 'node'\nnode = 1\nshare = 0",
    ],
)
def test_a_world_of_numbers_that_cannot_be_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "world.toml"
    path.write_text(f"nodes = 8\n{line}\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"out of range|share"):
        from_world(path, 1)


def test_good_runs_are_sound() -> None:
    for world in (World(), World(link="edr", mtu=None, driver="mlx5"), World(path="shm", nodes=3)):
        assert unsound(run_of(world)) == ""


@pytest.mark.parametrize("text", ["1e-320", "5e-324", "1e-200", "-1e-300", "nan", "inf", "1e300"])
def test_a_number_nearer_to_zero_than_any_clock_is_no_number(text: str) -> None:
    assert number(text) is None
    assert number("0.00") == 0.0


def test_a_row_with_such_a_time_is_no_row_and_costs_no_other_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "".join(f"{1 << power}   {1.9 + power / 100}\n" for power in range(8))
    head = "# OSU MPI Latency Test v7.4\n# Size       Latency (us)\n"
    (tmp_path / "good.log").write_text(head + rows, encoding="utf-8")
    (tmp_path / "bad.log").write_text(head + rows.replace("1.92", "1e-320"), encoding="utf-8")
    assert main(["judge", str(tmp_path), "--link", "edr"]) in (1, 3)
    told = capsys.readouterr()
    assert "2 series in 2 files" in told.out
    (series,) = read((tmp_path / "bad.log").read_bytes(), "bad")
    assert all(point.hrt_ns is None or point.hrt_ns > 1 for point in series.points)


def test_a_file_with_a_pattern_in_its_name_is_that_file(tmp_path: Path) -> None:
    """File names are taken literally: `*` and `[` have no special meaning."""
    text = "origin,target,mb_per_s\na,b,{0}\nb,a,{0}\n"
    (tmp_path / "c_1.csv").write_text(text.format(1), encoding="utf-8")
    (tmp_path / "c_2.csv").write_text(text.format(2), encoding="utf-8")
    for name in ("c_*.csv", "c_[12].csv", "c_?.csv", "it's;.csv"):
        (tmp_path / name).write_text(text.format(7), encoding="utf-8")
        with open_pairs(tmp_path / name) as table:
            assert table.rows == 2
            assert set(table.sample(9).value) == {7e6}
    with pytest.raises(BadInput), open_pairs(tmp_path / "c_9*.csv"):
        pass


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("min_efficiency", 0.0),
        ("ceiling_tolerance", 1000.0),
        ("stray_share", 1.0),
        ("on_wire_min", 0.0),
        ("max_half_width", 0.9),
        ("min_payload_bytes", 0),
    ],
)
def test_criteria_that_let_everything_pass_are_refused(
    tmp_path: Path, name: str, value: float
) -> None:
    """Whoever edits a stored result cannot have it judged by bounds that no check takes."""
    (good, *_) = sorted(STORED.glob("**/result.json"))
    document = json.loads(good.read_bytes())
    (tmp_path / "result.json").write_text(json.dumps(document))
    assert read_result(tmp_path) is not None
    document["parts"][-1]["criteria"][name] = value
    (tmp_path / "result.json").write_text(json.dumps(document))
    with pytest.raises(BadInput, match=f"invalid criterion: {name} is"):
        read_result(tmp_path)


@pytest.mark.parametrize("text", ["\u00b2", "9" * 5000, "\u0663\u2070", "--5", "-", ""])
def test_what_only_looks_like_a_number_is_no_error_of_ours(text: str) -> None:
    """``str.isdigit`` takes a superscript for a digit, which ``int`` refuses, and more than 4,300
    digits too.
    """
    assert whole(text) is None
    assert not properties._holds(f"{text}-{text},{text}", 3)
    assert host._memory(f"MemTotal: {text} kB\n") == ""
    assert launcher_messages._tasks(f"{text}-{text},{text}", [1, 2]) == set()
    assert reading._natural(f"policy{text}")
    assert pair_table.natural(f"n{text}")
    heading = "delta_t rx_user_bytes rx_user_num"
    for data in (
        f"    {heading}\n{text} {text} {text}\n",
        f"Time Delta 1 seconds x\n MPI_Statistics Summary id a b tid {text}\n",
    ):
        with contextlib.suppress(BadInput):
            statistics(data.encode(), "psm3-perf-stat-n1-pid-10")


def test_labels_amid_lines_without_one_are_no_error_of_ours() -> None:
    """Input 214 of the seed 20273 of `tests.fuzz.drive --target psm3`."""
    found = TARGETS["psm3"]
    assert not found.tried(found.make(random.Random("20273:psm3:214")))


# --- numbers with more digits than Python converts, and digits that are none


LONG = "9" * 6000
NETPERF = (
    "MIGRATED TCP {} TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.2 () port 0 AF_INET\n"
    "THROUGHPUT=940.1\nTHROUGHPUT_UNITS={}\nLOCAL_SEND_SIZE={}\nREQUEST_SIZE={}\n"
)


@pytest.mark.parametrize("number", ["\u00b2", "\u0663", "9" * 70])
@pytest.mark.parametrize(
    ("test", "unit"), [("STREAM", "MBytes/s"), ("REQUEST/RESPONSE", "Trans/s")]
)
def test_a_size_of_netperf_that_is_none_is_not_believed(test: str, unit: str, number: str) -> None:
    (series,) = read(NETPERF.format(test, unit, number, number).encode(), "x")
    assert {point.message_bytes for point in series.points} <= {1, 16384}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/proc/meminfo", f"MemTotal:  {LONG} kB\nSwapTotal: {LONG} kB\n"),
        ("/proc/version", f"Linux version {LONG}.1"),
        ("/proc/sys/kernel/osrelease", f"5.{LONG}"),
        ("/etc/os-release", f"ID=rhel\nVERSION_ID={LONG}.{LONG}\n"),
    ],
)
def test_a_host_with_endless_numbers_is_audited(path: str, text: str) -> None:
    """Each text of a host is as hostile as any file."""
    facts = host.HostFacts.of(
        "n1", [FactFrame(rank=0, kind="file", path=path, status="ok", text=text)]
    )
    assert judge_machine(machine_of(facts), catalogue(), "throughput")
    assert expression._version(f"v{LONG}.{LONG}") != [1]
    assert lacking(
        msgspec.structs.replace(next(iter(catalogue().entries.values())).setting, until="Linux 4"),
        {"host.kernel": LONG}.__getitem__,
    )[0]


@pytest.mark.parametrize("text", ["\u00b2", LONG, "-", ""])
def test_other_numbers_that_are_none_are_no_error_of_ours(text: str) -> None:
    """Of a scheduler, of a launcher, of a library, and of a plan."""
    slurm._check_task({"SLURM_PROCID": text, "SLURM_STEP_NUM_TASKS": "2"})
    openmpi._major(f"v{text}.1")
    assert ending._signal_seen(1, f"exited on signal {text}.") is None or text == LONG
    assert readback._plain(f"{text}k") != "0"
    allowed.lossy("/sys/class/net/eth0/mtu", text)
