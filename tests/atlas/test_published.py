"""The published files themselves: every row is judged, as any log is."""

from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

import atlas_source
from wireproof.atlas import Known, link_of
from wireproof.atlas import job as loading
from wireproof.atlas.job import atlas, atlas_folder, atlas_view
from wireproof.cli.judge import atlas as atlas_command
from wireproof.logs.job import judge
from wireproof.logs.verdict import judge_series
from wireproof.model.atlas import TIME_UNITS, Publication
from wireproof.model.errors import BadInput
from wireproof.model.series import Series, SeriesPoint

KNOWN = [one for name in loading._protocols() for one in atlas().series(name)]
PHYSICAL = {
    *("below-any-nic", "below-floor", "faster-than-transfer", "above-ceiling", "cache-shaped"),
    *("one-host", "mixed-paths", "message-rate-above-link"),
}


def as_series(one: Known) -> Series:
    """The published rows as a reader would give them."""
    times = one.series.unit in TIME_UNITS
    points = [
        SeriesPoint(message_bytes=size, hrt_ns=value)
        if one.series.pattern == "pingpong"
        else SeriesPoint(message_bytes=size, time_ns=value)
        if times
        else SeriesPoint(message_bytes=size or 1 << 20, goodput_bytes_per_s=value)
        for size, value in (
            one.times if times or one.series.pattern == "pingpong" else one.goodputs
        )
    ]
    pattern = one.series.pattern
    return Series(
        tool="atlas",
        benchmark=one.source.id,
        metric="half_round_trip" if times else "bandwidth",
        traffic="pingpong" if pattern == "ring" and times else pattern,
        points=points,
        formula=one.series.formula,
        unit=one.series.unit,
        waits=times,
        protocol="rdma" if one.layer == "verbs" else "",
    )


@pytest.mark.parametrize("one", KNOWN, ids=lambda one: f"{one.source.id}-{one.series.link}")
def test_every_published_row_may_have_crossed_its_wire(one: Known) -> None:
    if one.series.pattern in ("ring", "rate"):
        pytest.skip("of several ranks at once: compared with the limits where the file is read")
    found = judge_series(as_series(one), one.link)
    wrong = PHYSICAL & {reason.code for reason in found.reasons if reason.severity == "fail"}
    assert not wrong, [reason.message for reason in found.reasons]
    assert found.proof == "unproven"


def test_each_file_holds_its_protocol_and_a_source_is_in_it_once() -> None:
    for protocol in loading._protocols():
        sources = loading._ours(protocol)
        assert len(sources) == len({one.id for one in sources}), protocol
        others = [
            (one.id, series.link)
            for one in sources
            for series in one.series
            if link_of(series).protocol != protocol
        ]
        assert not others, f"{others} belong into another file than {protocol}.toml"


def test_a_source_says_the_same_of_itself_in_every_file() -> None:
    told: dict[str, set[tuple[str, str, str]]] = {}
    for protocol in loading._protocols():
        for one in loading._ours(protocol):
            told.setdefault(one.id, set()).add((one.title, one.where, one.date))
    assert not {name: seen for name, seen in told.items() if len(seen) > 1}


def test_most_of_the_atlas_is_output_and_tables() -> None:
    found = atlas_view()
    counts = Counter(one.trust for one in found.series)
    assert counts["log"] + counts["table"] > counts["vendor"] + counts["paper"]
    assert all(one.judged for one in found.series)


PING_PONG = """\
This is the DARPA/DOE HPC Challenge Benchmark version 1.5.0 October 2012
Current time (1516019405) is Mon Jan 15 12:30:05 2018
Detailed benchmark results:
Ping Pong:
Latency   min / avg / max:   {0} /   {0} /   {0} msecs
Bandwidth min / avg / max:  {1} /  {1} /  {1} MByte/s
Ring:
On naturally ordered ring: latency=      0.001097 msec, bandwidth=   1424.756146 MB/s
On randomly  ordered ring: latency=      0.000965 msec, bandwidth=   1514.434603 MB/s
------------------------------------------------------------------
"""


@pytest.mark.parametrize(
    ("latency_ms", "mb_per_s", "rows"),
    [
        ("0.001342", "11144.7", 2),
        ("0.001342", "14456.5", 0),  # its latency alone could be the wire's
        ("0.000483", "11144.7", 0),
    ],
)
def test_a_log_of_which_one_table_was_memory_gives_no_row(
    latency_ms: str,
    mb_per_s: str,
    rows: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    log = tmp_path / "hpccoutf.txt"
    log.write_text(PING_PONG.format(latency_ms, mb_per_s))
    given = {"--link": "opa100", "--id": "ours", "--title": "Ours", "--where": "rack 7"}
    words = [word for pair in given.items() for word in pair]
    monkeypatch.setattr("sys.argv", ["atlas_source.py", str(log), *words])
    assert atlas_source.main() == (0 if rows else 1)
    assert capsys.readouterr().out.count("rows = ") == rows


SITE = """\
[[source]]
id = "ours"
title = "Our cluster"
where = "rack 7"
trust = "log"

[[source.series]]
link = "edr"
pattern = "pingpong"
formula = "half round trip"
tool = "osu_latency"
unit = "us"
rows = [[8, 1.11]]
"""


def test_a_site_adds_its_own_and_is_named(tmp_path: Path) -> None:
    (tmp_path / "rack.toml").write_text(SITE)
    with_site, without = atlas_view("edr", folder=tmp_path), atlas_view("edr")
    assert with_site.sources == without.sources + 1
    assert with_site.files == ["rack.toml"]
    result = CliRunner().invoke(
        atlas_command, ["--link", "edr", "--atlas", str(tmp_path)], standalone_mode=False
    )
    assert "ours [rack.toml]" in result.output
    assert "of the site: rack.toml" in result.output


def test_a_judgement_names_what_came_from_the_site(tmp_path: Path) -> None:
    (tmp_path / "rack.toml").write_text(SITE)
    log = "# OSU MPI Latency Test v7.2\n# Size  Latency (us)\n" + "".join(
        f"{1 << n:<12}{1.12 + (1 << n) / 11_000:.2f}\n" for n in range(23)
    )
    (series,) = judge(log, link="edr", site=tmp_path).series
    start = series.places[0]
    assert start.files == ["rack.toml"]
    assert "ours, of the site" in start.sentence
    assert [one.file for one in start.nearest if one.source == "ours"] == ["rack.toml"]
    assert not judge(log, link="edr").series[0].places[0].files


def test_a_bad_row_of_the_site_names_its_file(tmp_path: Path) -> None:
    (tmp_path / "rack.toml").write_text(SITE.replace("1.11", "0.2"))
    with pytest.raises(
        BadInput, match=r"rack\.toml, line 13: rows: 0\.2 us at 8 B is faster than edr"
    ):
        atlas(tmp_path)


def test_the_folder_is_the_one_given_or_the_variable_or_the_usual_one(tmp_path: Path) -> None:
    usual = tmp_path / ".config" / "wireproof" / "atlas"
    assert atlas_folder(None, {"HOME": str(tmp_path)}) is None
    usual.mkdir(parents=True)
    assert atlas_folder(None, {"HOME": str(tmp_path)}) == usual
    assert atlas_folder(None, {"WIREPROOF_ATLAS": str(tmp_path)}) == tmp_path
    assert atlas_folder(tmp_path, {"WIREPROOF_ATLAS": "/nowhere"}) == tmp_path
    with pytest.raises(BadInput, match="is not a folder"):
        atlas_folder(None, {"WIREPROOF_ATLAS": str(tmp_path / "missing")})


def test_the_plot_is_an_svg_with_a_line_for_each_series(tmp_path: Path) -> None:
    result = CliRunner().invoke(
        atlas_command,
        ["--link", "edr", "--pattern", "pingpong", "--plot", str(tmp_path / "edr.svg")],
        standalone_mode=False,
    )
    text = (tmp_path / "edr.svg").read_text()
    assert result.exception is None
    assert text.count('class="line"') >= 2 * 3
    assert "published numbers" in text


def test_a_link_without_a_number_says_so() -> None:
    result = CliRunner().invoke(atlas_command, ["--link", "roce800"], standalone_mode=False)
    assert "no such number" in result.output
    assert "within the limits" not in result.output


def test_an_unknown_link_is_one_sentence() -> None:
    with pytest.raises(BadInput, match="hrd"):
        atlas_view("hrd")


def test_sources_are_plain_text() -> None:
    def every(one: Publication) -> str:
        return one.title + one.where + "".join(s.adapter + s.mpi + s.note for s in one.series)

    assert all(every(one.source).isprintable() for one in KNOWN)
