"""Text for terminals: fits, stays harmless, tells every finding and what to do next."""

import io
import os
import re
import sys
from collections.abc import Iterable
from dataclasses import replace

import msgspec
import pytest
from tests.conftest import some_of
from tests.processes import ran
from tests.rendered import answered, markdown_of, tables_of, text_of
from tests.report.test_worlds import empty, four_nodes, hostile, off_wire, rejudged

from wireproof.model.finding import Finding, Judgement, Verdict, worst
from wireproof.report.answers import answers
from wireproof.report.ink import Look, cell_length
from wireproof.report.judged_run import JudgedRun, headline, ranked, short_headline
from wireproof.report.results import result_table
from wireproof.report.rows import tables

WORLDS = [four_nodes(), four_nodes(8), four_nodes(4, slow=None), off_wire(), empty(), hostile()]


class Terminal(io.StringIO):
    encoding = "utf-8"  # type: ignore[assignment]

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("section", WORLDS, ids=lambda section: section.title[:12])
@pytest.mark.parametrize("width", [40, 60, 80, 132])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_no_line_is_wider_than_asked(section: JudgedRun, width: int, ascii_only: bool) -> None:
    for line in text_of(section, Look(width=width, ascii=ascii_only)).splitlines():
        assert cell_length(line) <= width
        assert not ascii_only or line.isascii()


def test_colour_codes_are_the_only_escapes_and_only_where_wanted() -> None:
    for section in WORLDS:
        assert "\x1b" not in text_of(section)
        painted = text_of(section, Look(color=True))
        assert "\x1b" not in re.sub(r"\x1b\[[0-9;]*m", "", painted)
        assert "\u202e" not in painted


def test_markup_and_emoji_codes_in_names_are_words() -> None:
    shown = text_of(hostile(), Look(width=160))
    assert ":smile:" in shown
    assert "[bold]" in shown


def test_summary_is_one_screen_and_says_what_to_do() -> None:
    shown = text_of(four_nodes())
    assert shown.startswith("FAIL  n3 sends at 297 Mb/s of 956 attainable (31 %) [node")
    assert shown.count("n3 sends at 297 Mb/s of 956 attainable (31 %)") == 1
    assert "next: Look at that node's NIC" in shown
    assert "n[1-4]" in shown
    assert "attainable 119.5 MB/s (956 Mb/s)" in shown
    assert len(shown.split("Ping-pong")[0].splitlines()) <= 36


def test_tables_hold_the_units_shares_proof_and_label() -> None:
    shown = tables_of(four_nodes(), Look(width=100))
    row = next(line for line in shown.splitlines() if "n3 → n1" in line).split()
    assert row[:2] == ["1", "MiB"]
    assert "31" in row
    assert row[-3:] == ["on-wire", "stable", "fail"]
    assert "MB/s" in shown
    assert "Gb/s" in shown


def test_long_tables_keep_what_fails_and_say_what_they_leave_out() -> None:
    shown = tables_of(four_nodes(8))
    assert sum(" n3 → " in line and line.endswith("fail") for line in shown.splitlines()) == 7
    assert re.search(r"\d+ more rows are in the report", shown)


def test_a_run_that_is_partly_on_the_wire_says_how_far() -> None:
    section = four_nodes(2, slow=None)
    pairs = [
        msgspec.structs.replace(section.judgement.pairs[0], proof="unproven"),
        *section.judgement.pairs[1:],
    ]
    shown = text_of(rejudged(section, proof="unproven", pairs=pairs))
    assert f"{len(pairs) - 1} of {len(pairs)} results on-wire" in shown
    assert "Not proven everywhere" in shown


def test_heavy_libraries_stay_out_until_something_is_drawn() -> None:
    code = (
        "import sys, wireproof.report.html.document, wireproof.measure.document, "
        "wireproof.report.progress, wireproof.report.json.result;"
        "print(*sorted({'duckdb', 'jinja2', 'numpy', 'ClusterShell'} & set(sys.modules)))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = ran([sys.executable, "-c", code], timeout=60, env=environment)
    assert (done.stdout.strip(), done.stderr) == ("", "")


def test_columns_that_do_not_fit_are_named() -> None:
    assert "not shown at this width:" in tables_of(off_wire(), Look(width=50))


def test_many_alike_findings_are_told_once() -> None:
    findings = [
        Finding(
            code="below-expectation",
            severity="fail",
            message=f"n3 -> n{i} slow",
            subject=f"n3 -> n{i}",
        )
        for i in range(12)
    ]
    section = four_nodes()
    shown = text_of(rejudged(section, findings=findings))
    assert "and 11 more of the same kind: n3 -> n1; n3 -> n2" in " ".join(shown.split())
    assert shown.count("FAIL ") == 1


def test_nothing_measured_is_never_a_pass() -> None:
    assert "INCONCLUSIVE" in text_of(empty())
    assert "nothing is proven" in headline(empty())
    assert worst([]) == "inconclusive"
    assert worst(["pass", "inconclusive"]) == "inconclusive"
    assert worst(["pass", "fail"]) == "fail"


def test_a_pass_without_a_wire_does_not_speak_of_one() -> None:
    section = four_nodes(2, slow=None)
    unproven = Judgement(
        verdict="pass", proof="unproven", findings=[], pairs=section.judgement.pairs
    )
    assert "wire" not in headline(replace(section, judgement=unproven))
    assert "crossed the wire" in headline(section)


def test_the_gravest_then_the_most_telling_finding_comes_first() -> None:
    made = [
        Finding(code="oversubscribed", severity="warning", message="w"),
        Finding(code="below-expectation", severity="fail", message="b"),
        Finding(code="node-direction-slow", severity="fail", message="n"),
        Finding(code="nolocal-shm", severity="inconclusive", message="i"),
    ]
    assert [finding.message for finding in ranked(made)] == ["n", "b", "i", "w"]


@pytest.mark.parametrize(
    ("environment", "color"),
    [
        ({"TERM": "xterm"}, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
        ({}, False),
        ({"TERM": "xterm", "NO_COLOR": ""}, True),
    ],
)
def test_colour_is_for_terminals_that_want_it(environment: dict[str, str], color: bool) -> None:
    assert Look.of(Terminal(), environment).color is color
    assert Look.of(io.StringIO(), environment).color is False


def test_width_and_alphabet_come_from_where_the_text_goes() -> None:
    assert Look.of(io.StringIO(), {"COLUMNS": "70"}).width == 70
    assert Look.of(io.StringIO(), {"COLUMNS": "rubbish"}).width == 80
    assert Look.of(io.StringIO(), {"COLUMNS": "7"}).width == 40
    assert Look.of(Terminal(), {"TERM": "xterm"}).ascii is False
    assert Look.of(io.TextIOWrapper(io.BytesIO(), encoding="latin-1"), {}).ascii is True


def test_a_long_table_shows_what_was_measured_again_once() -> None:
    section = four_nodes()
    once = [pair for pair in section.judgement.pairs if pair.pattern == "stream"]
    again = [
        msgspec.structs.replace(pair, repeat=number, value=pair.value * (1 + number / 100))
        for number in range(5)
        for pair in once
    ]
    failing = msgspec.structs.replace(once[0], repeat=5, value=1.0, verdict="fail")
    shown = tables_of(rejudged(section, pairs=[*again, failing]), Look(width=100)).splitlines()
    rows = [line for line in shown if re.search(r" n\d → n\d .*\d$", line)]
    assert len(rows) == len(once)
    counts = sorted(int(line.split()[-1]) for line in rows)
    assert counts == [5] * (len(once) - 1) + [6]
    (worst,) = [line for line in rows if line.endswith(" 6")]
    assert worst.split()[-2] == "fail"
    assert any(line.startswith("n: measurements in this row") for line in shown)


def _rows_of(host: str, shown: str) -> list[str]:
    return [line for line in shown.splitlines() if f" {host} → " in line]


def _as_many_open(section: JudgedRun, verdict: Verdict, share: float = 1.0) -> JudgedRun:
    """Every result of the section has this verdict, whatever it was."""
    pairs = [
        msgspec.structs.replace(pair, verdict=verdict, value=share * pair.value)
        for pair in section.judgement.pairs
    ]
    return rejudged(section, pairs=pairs)


@pytest.mark.parametrize("verdict", ["pass", "inconclusive", "fail"])
@pytest.mark.parametrize("slow", [2, 39])
def test_the_culprit_of_many_hosts_is_in_the_table(slow: int, verdict: Verdict) -> None:
    section = _as_many_open(four_nodes(40, slow=slow), verdict)
    assert len(_rows_of(f"n{slow + 1}", tables_of(section))) >= 10


def test_what_fails_is_shown_before_what_is_open() -> None:
    section = _as_many_open(four_nodes(16, slow=None), "inconclusive")
    pairs = list(section.judgement.pairs)
    pairs[-1] = msgspec.structs.replace(pairs[-1], verdict="fail")
    shown = tables_of(rejudged(section, pairs=pairs))
    assert sum(line.endswith("fail") for line in shown.splitlines()) == 1


def _verdicts_in(lines: Iterable[str]) -> list[str]:
    """The verdicts of a table's rows as they stand, in text or Markdown."""
    found = (re.search(r"\b(fail|inconclusive|pass)\b[^|]*\|?$", line) for line in lines)
    return [one[1] for one in found if one is not None]


@pytest.mark.parametrize("hosts", some_of([4, 48], 1))
def test_what_does_not_pass_comes_first_in_every_output(hosts: int) -> None:
    section = four_nodes(hosts, slow=hosts - 2)
    pairs = list(section.judgement.pairs)
    pairs[-1] = msgspec.structs.replace(pairs[-1], verdict="inconclusive")
    section = rejudged(section, pairs=pairs)
    table = tables(section)[-1]
    text = tables_of(section, Look(width=120)).split(table.title)[1]
    note = markdown_of([section], "t").split(f"## {table.title}")[1].split("##")[0]
    shown = [
        _verdicts_in(text.splitlines()),
        _verdicts_in(line for line in note.splitlines() if line.startswith("|")),
        [row.tone or "pass" for row in result_table(table, section.judgement.findings).rows],
    ]
    order = ["fail", "inconclusive", "pass"]
    for verdicts in shown:
        assert verdicts[0] == "fail"
        assert verdicts == sorted(verdicts, key=order.index)


def _open_straddle() -> JudgedRun:
    """One result of a pair is open because its interval straddles the expectation."""
    section = four_nodes(2, slow=None)
    finding = Finding(
        code="below-expectation",
        severity="inconclusive",
        message="n1 -> n2, stream of 64 KiB: 912 Mb/s, 96% of attainable 956 Mb/s; the interval"
        " straddles the expected 90%",
        subject="n1 -> n2",
    )
    return rejudged(section, verdict="inconclusive", findings=[finding])


def test_an_undecided_headline_keeps_its_reason() -> None:
    assert "straddles" in short_headline(_open_straddle())


def test_what_is_undecided_blames_no_pair() -> None:
    short, text = answered(_open_straddle(), "Which")
    assert "n1 -> n2" not in short
    assert "n1 -> n2" in text
    which = next(one for one in answers(_open_straddle()) if "Which" in one.word)
    assert which.tone == "inconclusive"
