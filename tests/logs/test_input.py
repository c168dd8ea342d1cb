"""Numbers that are none, tables of nothing, and what the judgement may never need or name."""

import math
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from tests.logs.tables import codes, imb, pingpong, stream, wire_times

from wireproof.logs.verdict import judge_series
from wireproof.model.series import SeriesPoint
from wireproof.physics import claim_from_text
from wireproof.verdict.catalogue import CATALOGUE

NUMBERS = [math.nan, math.inf, -math.inf, -1.0, 0.0, 1e-300, 1e300, 5e-324, 1.0]


@pytest.mark.parametrize("value", NUMBERS)
@pytest.mark.parametrize("link", ["edr", "10gbe", None])
def test_no_number_breaks_the_judgement_or_passes(value: float, link: str | None) -> None:
    claim = claim_from_text(link) if link else None
    for name in ("hrt_ns", "time_ns", "goodput_bytes_per_s", "messages_per_s", "time_max_ns"):
        for traffic in (
            *("pingpong", "stream", "put", "exchange", "rate", "collective", "ring", "other"),
            *("atomic",),
        ):
            points = [
                SeriesPoint(message_bytes=s, **{name: value})
                for s in (0, 8, 4096, 1 << 20, -5, 1 << 60)
            ]
            series = pingpong(
                {}, points=points, traffic=traffic, waits=traffic in ("pingpong", "put")
            )
            found = judge_series(series, claim)
            assert found.verdict != "pass"
            assert all(r.code in CATALOGUE and r.message for r in found.reasons)


def test_nothing_at_all_is_inconclusive() -> None:
    for link in (None, claim_from_text("edr")):
        found = judge_series(pingpong({}), link)
        assert found.verdict == "inconclusive"
        assert "nothing-measured" in codes(found)


def test_a_failed_check_of_contents_fails() -> None:
    series = pingpong(wire_times(1.0, 11_900))
    points = [msgspec.structs.replace(p, valid=p.message_bytes != 64) for p in series.points]
    found = judge_series(msgspec.structs.replace(series, points=points), claim_from_text("edr"))
    assert codes(found, "fail") == {"payload-corrupt"}


def test_many_rows_of_one_size_are_one_point() -> None:
    points = [
        SeriesPoint(message_bytes=131072, goodput_bytes_per_s=rate * 1e6)
        for rate in (1100, 1176, 1177, 1300, 1178)
    ]
    series = stream({}, points=points, protocol="tcp", tool="iperf3", window=None)
    found = judge_series(series, claim_from_text("10gbe", mtu=1500))
    assert (found.verdict, found.best_bytes_per_s) == ("pass", 1177e6)


def test_the_judgement_needs_no_numpy_and_the_same_series_gets_the_same_verdict() -> None:
    code = "import sys, wireproof.logs.verdict, wireproof.physics; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    series, link = imb("40gbe_intelmpi_imb_p2p_pingpong.csv"), claim_from_text("40gbe")
    assert judge_series(series, link) == judge_series(series, link)


def test_every_code_of_an_external_series_is_in_the_catalogue() -> None:
    folder = Path(judge_series.__code__.co_filename).parent
    used = set()
    for file in folder.glob("*.py"):
        used |= set(re.findall(r'add\(\s*"([a-z-]+)"', file.read_text(encoding="utf-8")))
    assert len(used) > 20
    assert used <= set(CATALOGUE)


def test_words_of_a_log_never_break_a_line() -> None:
    series = pingpong(
        wire_times(12.0, 1150), complete=False, incomplete="line 9\x1b[2J\n: \u202e torn"
    )
    for reason in judge_series(series, claim_from_text("10gbe")).reasons:
        assert reason.message.isprintable()


def test_a_table_of_very_many_sizes_is_judged_in_a_moment() -> None:
    points = [SeriesPoint(message_bytes=n, hrt_ns=1000.0 + n * (1 + n % 7)) for n in range(30_000)]
    assert judge_series(pingpong({}, points=points), claim_from_text("edr")).verdict != "pass"
