"""``wireproof report``: a stored result judged and rendered again."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.cli.verb import document, one_sentence, wireproof

import wireproof as library
from wireproof.measure.report import report
from wireproof.model.errors import BadInput
from wireproof.report.reporter import LoggingReporter

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A check of six played hosts, one of which sends at half rate; constants and a topology of the
    user's own.
    """
    folder = tmp_path_factory.mktemp("stored")
    topology = folder / "topology.conf"
    topology.write_text("SwitchName=a Nodes=n[1-3]\nSwitchName=b Nodes=n[4-6]\n")
    physics = folder / "physics.toml"
    physics.write_text("[floor]\ntcp = 4321\n")
    library.check(
        hosts="n[1-6]",
        transport="model",
        budget="20ms",
        link="10gbe",
        physics=physics,
        topology=topology,
        model_faults=["rank=2,tx=0.5"],
        out=folder / "result",
    )
    return folder / "result"


@pytest.fixture
def copy(stored: Path, tmp_path: Path) -> Path:
    """The result on "another machine"."""
    shutil.copytree(stored, tmp_path / "elsewhere")
    return tmp_path / "elsewhere"


def changed(folder: Path, change: dict[str, Any]) -> None:
    path = folder / "result.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))


def test_it_is_judged_as_on_the_day(copy: Path) -> None:
    (copy / "report.html").unlink()
    stored = json.loads((copy / "result.json").read_text())
    assert stored["parts"][0]["constants"] == {"floor.tcp": 4321.0}
    assert {one["switch"] for one in stored["parts"][0]["fabric"]["attachments"]} == {"a", "b"}
    done = wireproof("report", copy)
    assert done.returncode == 1
    assert "the same findings" in done.stderr
    assert "n3 sends slowly" in done.stdout
    page = (copy / "report.html").read_text()
    assert "n3" in page
    assert "4321" in page or "4.321" in page


def test_every_number_is_that_of_the_check(tmp_path: Path) -> None:
    out = tmp_path / "out"
    argv = ["--hosts", "n[1-4]", "--transport", "model", "--budget", "20ms", "--out", out]
    measured = document(wireproof("check", *argv, "--json"))
    again = document(wireproof("report", out, "--json"))
    assert again == measured
    (typed,) = library.report(out)
    assert typed.verdict == measured["verdict"]


def test_what_today_s_rules_change_is_said(copy: Path) -> None:
    result = json.loads((copy / "result.json").read_text())
    part = result["parts"][0]
    part["verdict"] = "pass"
    part["conclusions"] = [
        {"severity": "warning", "code": "a-rule-of-before", "subject": "n9"},
        *part["conclusions"][1:],
    ]
    changed(copy, {"parts": [part], "wireproof": "0.0.1"})
    done = wireproof("report", copy, "--no-page")
    assert "fail now; wireproof 0.0.1 said pass; the findings differ" in done.stderr
    assert "no longer: warning a-rule-of-before (n9)" in done.stderr
    assert "new: " in done.stderr


def test_a_folder_of_before_result_json_is_read_by_its_names(copy: Path) -> None:
    (copy / "result.json").unlink()
    done = wireproof("report", copy, "--no-page")
    assert done.returncode == 1
    assert "n3 sends slowly" in done.stdout
    assert "does not contain its earlier verdict" in done.stderr


def test_one_launch_is_a_result_too(copy: Path) -> None:
    done = wireproof("report", copy / "run", "--no-page")
    assert done.returncode in (1, 3)
    assert "n3" in done.stdout


def test_one_page_for_several(stored: Path, copy: Path, tmp_path: Path) -> None:
    before = (copy / "report.html").read_bytes()
    done = wireproof("report", stored, copy, "--out", tmp_path / "both.html")
    assert done.returncode == 1
    assert (tmp_path / "both.html").read_text().count("check of 6 hosts") >= 2
    assert (copy / "report.html").read_bytes() == before


def refused(folder: Path) -> str:
    """The sentence that ``report`` refuses the folder with; nothing is written."""
    pages = sorted((path, path.stat().st_mtime_ns) for path in folder.glob("*.html"))
    with pytest.raises(BadInput) as caught:
        report([folder], LoggingReporter())
    assert pages == sorted((path, path.stat().st_mtime_ns) for path in folder.glob("*.html"))
    return str(caught.value)


def test_several_are_one_document(stored: Path, copy: Path) -> None:
    both = wireproof("report", stored, copy, "--json")
    assert len(document(both)["parts"]) == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": 99}, "was made by a newer wireproof"),
        ({"schema": "1"}, "no schema number"),
        ({"kind": "recipe"}, "not a result of wireproof"),
        ({"parts": "none"}, "is damaged"),
        ({"parts": []}, "nothing was measured"),
        ({"settings": "../../etc/passwd"}, "not the folder of a launch"),
    ],
)
def test_a_damaged_result_is_refused(copy: Path, change: dict[str, Any], said: str) -> None:
    changed(copy, change)
    assert said in refused(copy)


@pytest.mark.parametrize("name", ["..", "../elsewhere/run", "/etc", "run/..", "", "gone"])
def test_records_outside_or_gone_are_refused(copy: Path, name: str) -> None:
    part = json.loads((copy / "result.json").read_text())["parts"][0]
    changed(copy, {"parts": [part | {"records": [name]}]})
    said = refused(copy)
    assert "not the folder of a launch" in said or "lacks the records" in said


def test_a_record_that_is_a_link_is_refused(copy: Path, stored: Path) -> None:
    shutil.rmtree(copy / "run")
    (copy / "run").symlink_to(stored / "run")
    assert "lacks the records" in refused(copy)


def test_cut_off(copy: Path) -> None:
    path = copy / "result.json"
    path.write_bytes(path.read_bytes()[:100])
    assert "is damaged" in refused(copy)


def test_what_is_no_result(tmp_path: Path) -> None:
    assert "contains no run: give the --out folder" in refused(tmp_path)
    done = wireproof("report", tmp_path / "nothing")
    assert done.returncode == 2
    assert "is not a folder: give the --out folder" in one_sentence(done)


def test_a_page_that_cannot_be_written(copy: Path, tmp_path: Path) -> None:
    done = wireproof("report", copy, "--out", tmp_path / "no" / "folder.html")
    assert done.returncode == 4
    assert "cannot be written" in one_sentence(done)


def test_the_settings_of_the_day_are_judged_again(tmp_path: Path) -> None:
    out = tmp_path / "out"
    measured = document(wireproof("check", "--budget", "20ms", "--out", out, "--json"))["parts"]
    assert (out / "settings.snapshot").is_file()
    again = document(wireproof("report", out, "--json"))["parts"]
    assert again[0]["settings"]["hosts"] == measured[0]["settings"]["hosts"]
    before = {
        (one["id"], one["instance"]): one["status"] for one in measured[0]["settings"]["results"]
    }
    after = {(one["id"], one["instance"]): one["status"] for one in again[0]["settings"]["results"]}
    assert after == before
    (out / "settings.snapshot").unlink()
    assert "settings.snapshot" in refused(out)


@pytest.mark.parametrize(("form", "written"), [("markdown", ["report.md"]), ("svg", [])])
def test_another_form_is_written_in_its_place(copy: Path, form: str, written: list[str]) -> None:
    (copy / "report.html").unlink()
    done = wireproof("report", copy, "--format", form)
    assert done.returncode == 1, done.stderr
    assert not (copy / "report.html").exists()
    assert all((copy / name).is_file() for name in written)
    assert bool(list(copy.glob("run*.svg"))) == (form == "svg")


@pytest.mark.parametrize("more", ["--json", "--no-page"])
def test_a_form_that_is_not_written_is_refused(copy: Path, more: str) -> None:
    done = wireproof("report", copy, "--format", "pdf", more)
    assert done.returncode == 2
    assert "--format pdf writes files: leave out --no-page and --json" in done.stderr


def test_the_command_that_repeats_it_and_the_disclosure_are_kept(copy: Path) -> None:
    known = json.loads((copy / "result.json").read_text())
    changed(copy, {"command": ["wireproof", "check", "--hosts", "n[1-6]"]})
    done = wireproof("report", copy, "--json")
    found = document(done)
    first = found["parts"][0] if "parts" in found else found
    items = {one["name"]: one for one in first["disclosure"]["items"]}
    assert items["command that repeats it"]["value"] == "wireproof check --hosts 'n[1-6]'"
    assert known["command"] == []
