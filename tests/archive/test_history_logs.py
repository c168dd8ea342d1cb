"""Logs of other programs in a history: kept, judged, listed, and no proof of anything."""

import errno
import json
import os
import time
from pathlib import Path

import msgspec
import pytest
from tests.archive.test_history import entry
from tests.made_history import written

import wireproof as library
from wireproof.archive import logs, pages
from wireproof.archive.gate import gate
from wireproof.archive.history import (
    ages,
    entry_called,
    found,
    least_proven,
    newest_of,
    prunable,
    prune,
    regressions,
    trends,
)
from wireproof.cli import main
from wireproof.logs.json import JudgementDocument
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.store.history import add_entry, entries

GOLDEN = Path(__file__).parents[1] / "golden" / "logs"
OSU, IMB = GOLDEN / "osu74-bw-tcp1g.out", GOLDEN / "imb2021-p2p-pingpong-tcp1g.out"
SAME_NODE = GOLDEN / "imb_mpi1_pingpong_SHM_same_node.txt"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A history with one measured result of n1 and n2, and a log of both."""
    add_entry(tmp_path / "history", entry(1, nodes={"n1": "pass", "n2": "pass"}))
    claims = logs.LogClaims(link="1gbe", hosts="n[1-3]", measured="2026-01-09T12:00")
    logs.add_log(tmp_path / "history", logs.read_log(OSU, claims))
    return tmp_path / "history"


def test_a_log_is_added_listed_and_shown_by_its_own_copy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root, log = tmp_path / "history", tmp_path / "osu bw.out"
    log.write_bytes(OSU.read_bytes())
    words = ["history", "add", str(root), str(log), str(IMB), "--link", "1gbe"]
    assert main([*words, "--hosts", "n[1-2]", "--measured", "2019-03-04"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert "log of osu, pass by 1gbe, of 2019-03-04T00:00:00+00:00" in said[0]
    log.unlink()
    assert main(["history", "list", str(root)]) == 0
    listed = capsys.readouterr().out
    assert listed.count("imported: ") == 2
    assert "n[1-2]" in listed
    name = next(one.id for one in entries(root) if one.imported and "osu" in one.imported.tools)
    assert main(["history", "show", str(root), name]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("PASS  119.34 MB/s")
    assert "imported log osu bw.out (SHA-256 " in " ".join(shown.split())
    assert "claims and do not prove any node" in " ".join(shown.split())
    assert main(["history", "show", str(root), name, "--json"]) == 0
    document = msgspec.json.decode(capsys.readouterr().out, type=JudgementDocument)
    assert (document.verdict, document.series[0].source) == ("pass", "osu bw.out")


def test_the_page_of_a_long_log_counts_what_it_leaves_out(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MOST_SERIES", 0)
    log = entries(root)[-1]
    assert log.imported is not None
    assert "and 1 more: " in pages.log_page(root, log, log.imported).decode()


def test_the_verdict_is_that_of_the_link(tmp_path: Path) -> None:
    verdicts = [
        logs.read_log(OSU, logs.LogClaims(link=link))[0].verdict for link in ("1gbe", "40gbe")
    ]
    assert verdicts == ["pass", "fail"]


def test_a_text_has_the_verdict_of_its_series() -> None:
    for link, verdict in (("1gbe", "pass"), ("40gbe", "fail")):
        assert library.judge(OSU.read_text(), link=link).verdict == verdict


def test_the_same_log_counts_once(root: Path) -> None:
    again = logs.read_log(OSU, logs.LogClaims(link="10gbe", measured="2025-01-01"))
    logs.add_log(root, again)
    (one,) = [one for one in entries(root) if one.imported]
    assert (one.link, one.measured) == ("10gbe", "2025-01-01T00:00:00+00:00")
    assert len(list((root / "results").iterdir())) == 1


def test_the_date_is_the_users_the_logs_or_that_of_the_file(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(OSU.read_bytes())
    os.utime(log, (1_500_000_000, 1_500_000_000))
    dates = {
        (one.measured, one.imported.dated)
        for one, _ in (
            logs.read_log(log, logs.LogClaims()),
            logs.read_log(log, logs.LogClaims(measured="2019-03-04T13:00+01:00")),
            logs.read_log(IMB, logs.LogClaims()),
        )
        if one.imported
    }
    assert {how for _, how in dates} == {"file", "given", "log"}
    assert ("2017-07-14T02:40:00+00:00", "file") in dates
    assert ("2019-03-04T12:00:00+00:00", "given") in dates
    for wrong in ("yesterday", "2019-13-01", "0001-01-01T00:00+14:00", "2999-01-01"):
        with pytest.raises(BadInput):
            logs.read_log(log, logs.LogClaims(measured=wrong))


def test_a_log_proves_no_node_and_is_no_good_result(root: Path, tmp_path: Path) -> None:
    known = entries(root)
    assert [one.id for one in known if one.imported] == [known[-1].id]
    assert [one.node for one in ages(known)] == ["n1", "n2"]
    assert least_proven(root, ["n1", "n2", "n3"], 1) == ("n3",)
    newest = newest_of(known)
    assert newest.imported is None
    assert entry_called(root, "last").imported is None
    assert regressions(known) == []
    assert gate(root).verdict == "inconclusive"
    assert len(found(root, "n3")) == 1


def test_what_an_earlier_version_reads_of_it_claims_nothing(root: Path) -> None:
    (stored,) = [json.loads(one.read_bytes()) for one in (root / "index").glob("log-*")]
    assert (stored["version"], stored["nodes"], stored["numbers"]) == (1, {}, [])


def test_imported_series_are_apart_from_measured_ones(root: Path) -> None:
    of = {one.imported: one for one in trends(entries(root), size=1 << 20)}
    assert of[True].name == "osu_bw"
    assert of[True].unit == "bytes_per_s"
    assert of[True].low == of[True].high == []
    assert len(of[False].low) == 1
    assert of[True].fingerprint != of[False].fingerprint


def test_tables_that_the_link_excludes_give_no_number() -> None:
    impossible, slow = (
        logs.read_log(log, logs.LogClaims(link=link))[0]
        for log, link in ((SAME_NODE, "1gbe"), (OSU, "40gbe"))
    )
    assert impossible.imported.numbers == []
    assert slow.imported.numbers  # a trend without it would hide what has become worse
    assert impossible.verdict == slow.verdict == "fail"


def test_old_logs_stay_until_they_are_asked_for(root: Path) -> None:
    known = entries(root)
    later = time.time() + 900 * 86400
    assert prunable(known, days=1, now=later) == []
    chosen = prunable(known, days=1, now=later, logs=True)
    assert [one.imported is not None for one in chosen] == [True]
    stranger = root / "results" / chosen[0].id / "mine"
    stranger.touch()
    assert "was not removed" in prune(root, chosen)[0]
    stranger.unlink()
    assert prune(root, chosen) == []
    assert list((root / "results").iterdir()) == []
    assert [one.imported for one in entries(root)] == [None]


def test_a_copy_that_is_no_longer_the_log_is_refused_and_mended(root: Path) -> None:
    (one,) = [one for one in entries(root) if one.imported]
    assert one.imported is not None
    (root / "results" / one.id / "log").write_text("# other\n")
    with pytest.raises(BadInput, match="SHA-256"):
        logs.judged_again(root, one, one.imported)
    logs.add_log(root, logs.read_log(OSU, logs.LogClaims(link="1gbe")))
    assert logs.judged_again(root, one, one.imported).verdict == "pass"


@pytest.mark.parametrize(
    "what", ["nothing", "binary", "empty", "gone", "large", "folder", "pipe", "refused"]
)
def test_what_is_no_log_is_one_sentence_and_leaves_nothing(
    tmp_path: Path, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log, root = tmp_path / what, tmp_path / "history"
    contents = {"nothing": b"hello\n", "binary": bytes(range(256)) * 64, "empty": b""}
    contents["refused"] = (GOLDEN / "iperf3_refused.json").read_bytes()
    if what in contents:
        log.write_bytes(contents[what])
    elif what == "large":
        with log.open("wb") as file:
            file.truncate((16 << 20) + 1)
    elif what == "folder":
        log.mkdir()
    elif what == "pipe":
        os.mkfifo(log)
    assert main(["history", "add", str(root), str(OSU), str(log), "--link", "1gbe"]) == 2
    said = capsys.readouterr()
    assert what in said.err
    assert len(said.err.splitlines()) == 1
    if what != "folder":
        assert not root.exists()


def test_options_of_logs_are_refused_for_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["history", "add", str(tmp_path / "history"), str(tmp_path), "--link", "1gbe"]
    assert main(words) == 2
    assert "--link" in capsys.readouterr().err


def test_a_disk_that_is_full_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    log = logs.read_log(OSU, logs.LogClaims())
    monkeypatch.setattr(logs, "replace_file", full)
    with pytest.raises(CouldNotMeasure, match="No space left"):
        logs.add_log(tmp_path / "history", log)
    assert list((tmp_path / "history" / "results").iterdir()) == []
    assert not (tmp_path / "history" / "index").exists()


def test_the_page_shows_a_log_marked_and_escaped(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "<b>evil\x1b[2J.out"
    log.write_bytes(b"# <script>alert(1)</script>\n" + OSU.read_bytes())
    evil = logs.add_log(root, logs.read_log(log, logs.LogClaims(link="1gbe")))
    pages = written(root)
    assert "imported: pass" in (pages / "results.html").read_text()
    assert evil.fingerprint not in (pages / "trends.html").read_text()
    shown = (pages / f"run-{evil.id}.html").read_text()
    assert "&lt;b&gt;evil\\x1b[2J.out" in shown
    assert "do not prove any node" in shown
    assert "<script>alert" not in shown
