"""Every golden log, cut and decorated: the right records or fewer, never another one."""

from pathlib import Path

import pytest
from tests.conftest import its_share
from tests.logs import test_fabtests as fabtests
from tests.logs import test_fi_pingpong as fi_pingpong
from tests.logs import test_imb_megabytes as imb
from tests.logs.tables import GOLDEN
from tests.logs.test_imb_forms import cells
from tests.logs.test_mpigraph import run_of
from tests.logs.test_nccl import log as nccl
from tests.logs.test_netpipe import VERSION_5
from tests.logs.test_osu import ALIGNED, CELLS
from tests.logs.test_qperf import WHOLE as QPERF
from tests.logs.test_sockperf import RUN
from tests.logs.test_ucx import TAG_LATENCY
from tests.property.logs_as_met import (
    DECORATIONS,
    LOGS,
    broken,
    cuts,
    mixed,
    quoted_list,
    series_of,
    shape,
    with_noise,
)

IDS = [path.name for path in LOGS]
ROWS = {
    "sockperf": RUN,
    "qperf": QPERF,
    "osu": ALIGNED,
    "imb": imb.run("Intel (R) MPI Benchmark Suite V3.2, MPI-1 part", imb.OLD),
    "imb, a piece": "# Benchmarking PingPong\n" + imb.OLD,
    "mpigraph": run_of(),
    "fi_pingpong": fi_pingpong.HEAD + fi_pingpong.ROWS,
    "fabtests": fabtests.HEAD + fabtests.PING,
    "nccl": nccl("a", "b"),
    "ucx": TAG_LATENCY,
    "csv": (GOLDEN / "1gbe_intelmpi_imb_p2p_pingpong.csv").read_text(encoding="utf-8"),
}
SHORT = ROWS | {
    "netpipe": VERSION_5,
    "osu, a cell a line": CELLS,
    "imb, a cell a line": cells((2, 4, 0, 1, 3)),
    "fabtests for machines": fabtests.MACHINE,
}
"""Made logs that are short enough to be cut at each byte."""
ENDED = ("sockperf", "qperf", "imb", "mpigraph", "nccl", "ucx")
"""Their programs print an end: a table without it is incomplete behind a whole row too."""
DOCUMENTS = (".json",)


@pytest.mark.parametrize("log", LOGS, ids=IDS)
def test_cut_anywhere(log: Path, slow_turn: int | None) -> None:
    """Of a long log each turn tries a tenth of the cuts."""
    data = log.read_bytes()
    whole = series_of(data)
    every = list(cuts(data))
    for part in its_share(every, slow_turn if len(every) > 100 else None):
        why = broken(whole, series_of(part))
        assert not why, f"{log.name} cut after {len(part)} bytes (...{part[-60:]!r}): {why}"


def ends(data: bytes, turn: int | None) -> list[int]:
    """Where it is cut; of a long log each turn tries a tenth."""
    return its_share(range(len(data)), turn if len(data) > 1000 else None)


@pytest.mark.parametrize("tool", SHORT)
def test_cut_at_each_byte(tool: str, slow_turn: int | None) -> None:
    data = SHORT[tool].encode()
    whole = series_of(data)
    assert whole
    for end in ends(data, slow_turn):
        assert not broken(whole, series_of(data[:end])), data[:end]


@pytest.mark.parametrize("tool", ROWS)
def test_a_row_that_is_cut_leaves_its_table_incomplete(tool: str, slow_turn: int | None) -> None:
    data = ROWS[tool].encode()
    points = sum(len(one.points) for one in series_of(data))
    for end in ends(data, slow_turn):
        torn = data[:end].rpartition(b"\n")[2]
        whole = data[end - len(torn) :].partition(b"\n")[0]
        found = series_of(data[:end])
        if found and (tool in ENDED or torn.strip() not in (b"", whole.strip())):
            complete = all(one.complete for one in found)
            assert not complete or sum(len(one.points) for one in found) == points, torn


@pytest.mark.parametrize("decoration", DECORATIONS)
@pytest.mark.parametrize("log", LOGS, ids=IDS)
def test_decoration_changes_nothing(log: Path, decoration: str) -> None:
    data = log.read_bytes()
    data += b"" if data.endswith(b"\n") else b"\n"
    assert shape(series_of(DECORATIONS[decoration](data))) == shape(series_of(data))


@pytest.mark.parametrize(
    "log", [path for path in LOGS if path.suffix not in DOCUMENTS], ids=lambda path: path.name
)
def test_noise_between_rows(log: Path) -> None:
    data = log.read_bytes()
    data += b"" if data.endswith(b"\n") else b"\n"
    assert shape(series_of(with_noise(data))) == shape(series_of(data))


@pytest.mark.parametrize("index", range(len(LOGS)), ids=IDS)
def test_two_logs_in_one_file(index: int) -> None:
    first = LOGS[index].read_bytes() + b"\n"
    tools = {one.tool for one in series_of(first)}
    others = [LOGS[(index + step) % len(LOGS)] for step in range(1, len(LOGS), 7)]
    for other in others:
        second = other.read_bytes() + b"\n"
        alone = series_of(second)
        if tools.isdisjoint(one.tool for one in alone) and alone and tools:
            assert shape(series_of(first + second)) == shape(series_of(first)) + shape(alone), (
                other.name
            )


@pytest.mark.parametrize(
    "log", [path for path in LOGS if path.suffix not in DOCUMENTS], ids=lambda path: path.name
)
def test_a_list_of_quoted_lines_changes_nothing(log: Path) -> None:
    data = log.read_bytes()
    assert shape(series_of(quoted_list(data))) == shape(series_of(data + b"\n"))


@pytest.mark.parametrize("index", range(len(LOGS)), ids=IDS)
def test_mixed_lines_of_two_hosts_are_two_logs(index: int) -> None:
    first, second = LOGS[index], LOGS[(index + 5) % len(LOGS)]
    both = series_of(mixed(first.read_bytes(), second.read_bytes()))
    alone = series_of(first.read_bytes() + b"\n"), series_of(second.read_bytes() + b"\n")
    for host, right in zip(("cn01", "cn02"), alone, strict=True):
        mine = [one for one in both if one.notes[-1:] == [f"printed by {host}"]]
        assert shape(mine) == shape(right), (first.name, second.name, host)
