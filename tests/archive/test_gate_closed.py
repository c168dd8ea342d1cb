"""Whatever is wrong with a result, in no dialect is a node healthy: as its reader sees it."""

import json
import os
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.gate_results import NOW, asked, stored, stored_run
from tests.synthetic import lab, run_of

from wireproof.model.run import Gate, Missing
from wireproof.report.gate import DIALECTS
from wireproof.store.result import RESULT

Make = Callable[[Path], object]


def gone(folder: Path) -> None:
    """No result at all."""


def cut(folder: Path) -> None:
    file = stored(folder) / RESULT
    file.write_bytes(file.read_bytes()[:-200])


def edited(folder: Path, **more: object) -> None:
    file = stored(folder) / RESULT
    document = json.loads(file.read_text())
    for node in document["parts"][0]["nodes"]:
        node.update(more)
    file.write_text(json.dumps(document))


def newer(folder: Path) -> None:
    file = stored(folder) / RESULT
    document = json.loads(file.read_text())
    file.write_text(json.dumps({**document, "schema": 99}))


def of_others(folder: Path) -> None:
    file = stored(folder) / RESULT
    document = json.loads(file.read_text())
    for number, host in enumerate(document["parts"][0]["run"]["claim"]["hosts"]):
        host["host"] = f"other{number}"
    file.write_text(json.dumps(document))


def part_not_measured(folder: Path, code: str = "interrupted") -> None:
    run = run_of(lab(nodes=3))
    lost = {run.points[0].id: Missing(code, "interrupted by the user")}  # type: ignore[arg-type]
    stored_run(folder, msgspec.structs.replace(run, points=run.points[1:], missing=lost))


def not_closed(folder: Path) -> None:
    stored_run(folder, msgspec.structs.replace(run_of(lab(nodes=3)), close=None))


def nothing_ran(folder: Path) -> None:
    stored_run(folder, msgspec.structs.replace(run_of(lab(nodes=3)), points=[]))


def pipe(folder: Path) -> None:
    folder.mkdir()
    os.mkfifo(folder / RESULT)


def loop(folder: Path) -> None:
    folder.mkdir()
    (folder / RESULT).symlink_to(RESULT)


def folder_in_its_place(folder: Path) -> None:
    (folder / RESULT).mkdir(parents=True)


def noise(folder: Path) -> None:
    folder.mkdir()
    (folder / RESULT).write_bytes(b"\xff\x00\x1b[31m" * 100)


def nested(folder: Path) -> None:
    folder.mkdir()
    (folder / RESULT).write_text("[" * 100_000)


SITUATIONS: dict[str, Make] = {
    "no result": gone,
    "empty folder": lambda folder: folder.mkdir(),
    "plan without a pair": lambda folder: stored(folder, lab(nodes=1)),
    "result of nothing": lambda folder: stored(folder, parts=0),
    "the check did not run": nothing_ran,
    "interrupted": part_not_measured,
    "a part was skipped": lambda folder: part_not_measured(folder, "failed"),
    "cut short by a crash": not_closed,
    "stale": lambda folder: stored(folder, when=NOW - timedelta(hours=25)),
    "of the future": lambda folder: stored(folder, when=NOW + timedelta(hours=1)),
    "of other hosts": of_others,
    "of a newer version": newer,
    "cut": cut,
    "edited: not on the wire": lambda folder: edited(folder, proof="off-wire"),
    "edited: nothing passed": lambda folder: edited(folder, passing=0),
    "edited: no such verdict": lambda folder: edited(folder, verdict="PASS"),
    "no JSON": noise,
    "deeper than anything": nested,
    "a named pipe": pipe,
    "a link to itself": loop,
    "a folder": folder_in_its_place,
    "memory in place of a wire": lambda folder: stored(folder, lab(nodes=3, path="shm")),
}


def healthy_in_metrics(text: str) -> bool:
    """As an alert rule reads it: the verdict is a pass, and its age is known and small."""
    families = {
        one.name: one.samples for one in text_string_to_metric_families(text + "\n") if one.samples
    }
    states = {one.labels["verdict"]: one.value for one in families["wireproof_verdict"]}
    when = families.get("wireproof_result_time_seconds")
    return states["pass"] == 1 and when is not None


def healthy_for(name: str, text: str, status: int) -> bool:
    """Whether the reader of the dialect takes it for healthy; by any of the things it may look
    at.
    """
    document = json.loads(text) if name in ("json", "ctrf", "sarif") else {}
    match name:
        case "openmetrics":
            return healthy_in_metrics(text)
        case "junit":
            suite = ElementTree.fromstring(text).find("testsuite")  # noqa: S314
            bad = int(suite.get("failures", "")) + int(suite.get("errors", ""))
            return status == 0 or not bad or not (suite.findall(".//failure | .//error") or bad)
        case "ctrf":
            summary = document["results"]["summary"]
            return status == 0 or summary["passed"] == summary["tests"]
        case "sarif":
            return status == 0 or not document["runs"][0]["results"]
        case "json":
            return status == 0 or document["verdict"] == "pass"
    return status == 0 or bool(re.search(r"\bOK\b|wireproof pass", text))


def nowhere_healthy(found: Gate) -> None:
    assert found.verdict != "pass"
    assert len(found.reason) > 10
    assert len(DIALECTS["text"].text(found).splitlines()) == 1
    assert "error of wireproof itself" not in found.reason
    for name, dialect in DIALECTS.items():
        text = dialect.text(found)
        assert not healthy_for(name, text, dialect.status[found.verdict]), name
        assert "Traceback" not in text
        assert "\x1b" not in text


@pytest.mark.parametrize("make", SITUATIONS.values(), ids=SITUATIONS)
@pytest.mark.parametrize("below", [False, True], ids=["the result", "a folder of results"])
def test_no_reader_takes_it_for_healthy(tmp_path: Path, make: Make, below: bool) -> None:
    make(tmp_path / "a")
    for nodes in (None, "n1", "n1,elsewhere"):
        nowhere_healthy(asked(tmp_path if below else tmp_path / "a", nodes))


def test_the_table_can_tell_healthy(tmp_path: Path) -> None:
    found = asked(stored(tmp_path / "a"))
    for name, dialect in DIALECTS.items():
        status = dialect.status[found.verdict]
        text = dialect.text(found)
        if name in ("junit", "sarif", "ctrf"):
            assert status == 0
        else:
            assert healthy_for(name, text, status), name


@pytest.mark.parametrize("name", ["n1\x1b[31m", 'n1"} 1\n#', "n1<b>&", "\u202en1", "n" * 5000])
def test_a_hostile_name_breaks_no_dialect(tmp_path: Path, name: str) -> None:
    file = stored(tmp_path / "a") / RESULT
    document = json.loads(file.read_text())
    for node in document["parts"][0]["nodes"][:2]:
        node.update(node=name, verdict="fail", reason=f"{name} is slow")
    document["parts"][0]["nodes"][1]["node"] += "\t"
    file.write_text(json.dumps(document))
    nowhere_healthy(asked(tmp_path / "a"))


def test_a_run_that_does_not_pass_is_told_where_all_nodes_pass(tmp_path: Path) -> None:
    """Readers of a list of cases see nothing else."""
    folder = stored(tmp_path / "a")
    document = json.loads((folder / RESULT).read_text())
    document["parts"][0]["verdict"] = "inconclusive"
    (folder / RESULT).write_text(json.dumps(document))
    found = asked(folder)
    assert {one.verdict for one in found.nodes} == {"pass"}
    nowhere_healthy(found)


@contextmanager
def as_nobody() -> Iterator[None]:
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


@pytest.mark.parametrize("closed", ["a", f"a/{RESULT}", "."])
def test_what_may_not_be_read_is_told_and_hides_nothing(closed: str) -> None:
    """A newer result that cannot be read may be a fail: the older pass does not count."""
    with TemporaryDirectory() as name:
        place = Path(name)
        for number, folder in enumerate(("old", "a")):
            stored(place / folder)
            os.utime(place / folder / RESULT, (NOW.timestamp() + number * 60,) * 2)
            (place / folder / RESULT).chmod(0o644)
        place.chmod(0o755)
        (place / closed).chmod(0)
        with as_nobody():
            found = asked(place, "n1")
        place.chmod(0o700)
        (place / closed).chmod(0o700)
    nowhere_healthy(found)
    assert "Permission denied" in found.reason
