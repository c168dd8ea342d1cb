"""An acceptance dossier: whatever is done to it is named, and no verdict is given then."""

import errno
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.dossiers import dossier_of, refused, resealed, resumed, verified

from wireproof.archive.dossier import unseal
from wireproof.archive.gate import gate
from wireproof.archive.verify import NOT_SIGNED, verification_document
from wireproof.cli.options import ended
from wireproof.measure.report import report
from wireproof.model.claim import Criteria
from wireproof.model.dossier import KNOWN, Agreed, Dossier
from wireproof.model.errors import BadInput
from wireproof.options.resolve import read_criteria
from wireproof.report.ink import Look
from wireproof.report.reporter import LoggingReporter
from wireproof.report.text import document_text
from wireproof.store.manifest import MANIFEST
from wireproof.store.signature import refuse_altered

AGREED = Agreed(
    criteria=Criteria(min_efficiency=0.95),
    chosen=("min_efficiency",),
    source="agreed.toml",
    sha256="0" * 64,
)
FILES = (
    *("criteria.toml", "disclosure.json", "dossier.json", "report.html", "result.json"),
    *("run-1/batches.parquet", "run-1/frames.jsonl", "run-1/points.parquet", "run-1/run.json"),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dossier_of(tmp_path_factory.mktemp("dossier") / "made", agreed=AGREED)


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    """The dossier on "another machine"."""
    shutil.copytree(made, tmp_path / "elsewhere")
    return tmp_path / "elsewhere"


def edited(path: Path, change: Callable[[Any], None]) -> None:
    document = json.loads(path.read_bytes())
    change(document)
    path.write_text(json.dumps(document))


# --- as it was sealed


def test_a_copy_elsewhere_is_what_was_sealed(copy: Path) -> None:
    for path in copy.rglob("*"):
        os.utime(path, (1, 1))
        path.chmod(0o755 if path.is_dir() else 0o444)
    found = verified(copy)
    assert (found.verdict, found.files) == ("pass", len(FILES))
    assert (found.judged.same_rules, found.judged.page) == (True, True)
    text = document_text(verification_document(found), Look(width=2000))
    assert re.search(r"min_efficiency: .* 0\.95  +agreed\.toml", text)
    assert NOT_SIGNED[:60] in text
    assert text.startswith("PASS  ")


def test_it_says_what_it_was_judged_by(copy: Path) -> None:
    dossier = msgspec.json.decode((copy / "dossier.json").read_bytes(), type=Dossier)
    assert sorted(one.name for one in dossier.criteria if one.chosen) == ["min_efficiency"]
    assert {one.name for one in KNOWN} <= {one.name for one in dossier.criteria}
    assert all(one.source for one in dossier.criteria)
    assert dossier.agreed is not None
    again = read_criteria(copy / "criteria.toml")
    assert again.criteria == AGREED.criteria
    (disclosure,) = json.loads((copy / "disclosure.json").read_bytes())
    assert disclosure["schema"] == "wireproof.disclosure"


def test_sha256sum_checks_it(copy: Path) -> None:
    done = subprocess.run(
        ["sha256sum", "--check", "--strict", "--quiet", MANIFEST], cwd=copy, check=False
    )
    assert done.returncode == 0


def test_every_known_criterion_is_one_of_the_verdict() -> None:
    assert sorted(one.name for one in KNOWN) == sorted(Criteria.__struct_fields__)
    assert all(one.least <= getattr(Criteria(), one.name) <= one.most for one in KNOWN)


# --- changed without the manifest


def _byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _link(path: Path) -> None:
    shutil.copy(path, path.parents[1] / "outside")
    path.unlink()
    path.symlink_to(path.parents[1] / "outside")


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


ATTACKS: dict[str, tuple[Callable[[Path], object], str]] = {
    "byte": (_byte, "{} was changed"),
    "cut": (_cut, "{} was changed"),
    "grown": (lambda path: path.write_bytes(path.read_bytes() + b"\n"), "{} was changed"),
    "empty": (lambda path: path.write_bytes(b""), "{} was changed"),
    "removed": (Path.unlink, "{} is missing"),
    "renamed": (lambda path: path.rename(path.with_name("other")), "{} was renamed to"),
    "link": (_link, "{} is a symbolic link"),
    "pipe": (_pipe, "{} is a named pipe"),
    "folder": (_folder, "{} is missing"),
    "copied": (lambda path: shutil.copy(path, path.with_name("more")), "more was added"),
}


@pytest.mark.parametrize(
    ("name", "attack"),
    [
        *((name, attack) for name in FILES for attack in ("byte", "removed")),
        *((name, attack) for name in ("result.json", "run-1/frames.jsonl") for attack in ATTACKS),
    ],
)
def test_a_file_that_was_altered_is_named(copy: Path, name: str, attack: str) -> None:
    alter, said = ATTACKS[attack]
    alter(copy / name)
    sentence = refused(copy)
    assert said.format(name) in sentence
    assert "No verdict is given" in sentence
    assert "pass" not in sentence


def test_two_files_that_were_swapped_are_named(copy: Path) -> None:
    one, other = copy / "run-1" / "points.parquet", copy / "run-1" / "batches.parquet"
    first = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(first)
    assert "batches.parquet was changed; run-1/points.parquet was changed" in refused(copy)


@pytest.mark.parametrize("name", [".hidden", "run-1/more", "new/deep/file", "SHA256SUMS.txt"])
def test_a_file_that_was_added_is_named(copy: Path, name: str) -> None:
    (copy / name).parent.mkdir(parents=True, exist_ok=True)
    (copy / name).write_text("hello")
    assert "was added" in refused(copy)
    assert Path(name).name in refused(copy)


@pytest.mark.parametrize("name", [".SHA256SUMS.0a1b2c3d.new", ".SHA256SUMS.2.sig.0a1b2c3d.new"])
def test_the_draft_of_a_signer_that_was_killed_is_no_added_file(copy: Path, name: str) -> None:
    (copy / name).write_text("half")
    refuse_altered(copy)
    assert resealed(copy) == copy
    (copy / name).unlink()
    (copy / name).symlink_to("result.json")
    with pytest.raises(BadInput, match="is a symbolic link"):
        refuse_altered(copy)


def test_a_hostile_name_is_escaped(copy: Path) -> None:
    (copy / "\x1b[2Jx\n").write_text("")
    assert "\x1b" not in refused(copy)


MANIFESTS: dict[str, tuple[Callable[[list[str]], str], str]] = {
    "line lost": (lambda lines: "".join(lines[1:]), "criteria.toml was added"),
    "cut": (lambda lines: "".join(lines)[:-20], "is cut off"),
    "empty": (lambda lines: "", "is cut off"),
    "twice": (lambda lines: "".join([*lines, lines[0]]), "is listed twice"),
    "not hex": (lambda lines: "".join(["x" * 64 + "  a\n", *lines]), "line 1 is damaged"),
    "outside": (lambda lines: "".join(["0" * 64 + "  ../../etc/passwd\n", *lines]), "line 1"),
    "absolute": (lambda lines: "".join(["0" * 64 + "  /etc/passwd\n", *lines]), "line 1"),
    "itself": (lambda lines: "".join(["0" * 64 + "  SHA256SUMS\n", *lines]), "line 1"),
    "binary": (lambda lines: "\0\udcff\n" + "".join(lines), "line 1 is damaged"),
}


@pytest.mark.parametrize("attack", MANIFESTS)
def test_a_damaged_manifest_is_refused(copy: Path, attack: str) -> None:
    change, said = MANIFESTS[attack]
    path = copy / MANIFEST
    text = change(path.read_text().splitlines(keepends=True))
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert said in refused(copy)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(name=st.sampled_from((*FILES, MANIFEST)), at=st.floats(0, 1), bit=st.integers(0, 7))
def test_any_bit_counts(made: Path, name: str, at: float, bit: int) -> None:
    path = made / name
    before = path.read_bytes()
    data = bytearray(before)
    data[min(int(at * len(data)), len(data) - 1)] ^= 1 << bit
    path.write_bytes(data)
    try:
        with pytest.raises(BadInput):
            refuse_altered(made)
    finally:
        path.write_bytes(before)
    refuse_altered(made)


# --- changed, and the manifest written anew: without a signature only what contradicts shows


def _part(document: Any) -> Any:
    return document["parts"][0]


def _set(*keys: str, value: object) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        place = _part(document)
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value

    return change


RESULTS: dict[str, tuple[Callable[[Any], None], str]] = {
    "verdict": (_set("verdict", value="fail"), "different verdicts"),
    "findings": (
        _set("conclusions", value=[{"severity": "warning", "code": "fine", "subject": ""}]),
        "has different findings from those that its records give",
    ),
    "nodes": (_set("nodes", value=[]), "about a node that does not follow"),
    "criteria": (_set("criteria", "min_efficiency", value=0.5), "dossier.json says min_efficiency"),
    "rate": (_set("run", "claim", "link", "rate_bits_per_s", value=1e8), "claims a different link"),
    "hosts": (_set("run", "hosts", value=[]), "differs from the records in hosts"),
    "claimed": (_set("run", "claim", "hosts", value=[]), "measured on other hosts"),
    "date": (
        _set("run", "provenance", "started", value="2030-01-01"),
        "differs from the records in provenance",
    ),
    "idle": (_set("run", "idle", value=[]), "differs from the records in idle"),
    "version": (lambda document: document.update(wireproof="9"), "different versions"),
    "no constants": (_set("constants", value={"floor.tcp": 1.0}), "constant.floor.tcp = None"),
}


@pytest.mark.parametrize("attack", RESULTS)
def test_a_result_that_does_not_follow_from_its_records_is_refused(copy: Path, attack: str) -> None:
    change, said = RESULTS[attack]
    edited(copy / "result.json", change)
    sentence = refused(resealed(copy))
    assert said in sentence
    assert "result.json" in sentence or "run-1" in sentence


def _slower_batches(copy: Path) -> None:
    """One batch of a record twice as long, as by hand."""
    path = copy / "run-1" / "frames.jsonl"
    lines = path.read_text().splitlines()
    at = next(i for i, line in enumerate(lines) if '"frame":"point"' in line)
    point = json.loads(lines[at])
    point["pairs"][0]["batch_ns"][0] *= 2
    lines[at] = json.dumps(point)
    path.write_text("\n".join(lines) + "\n")


def _fewer_frames(copy: Path) -> None:
    path = copy / "run-1" / "frames.jsonl"
    path.write_bytes(path.read_bytes()[:-4000])


def _replaced(name: str, old: str, new: str) -> Callable[[Path], None]:
    def change(copy: Path) -> None:
        text = (copy / name).read_text()
        assert old in text
        (copy / name).write_text(text.replace(old, new))

    return change


OTHERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "record": (_slower_batches, "run-1/batches.parquet has other rows"),
    "records cut": (_fewer_frames, "run-1/points.parquet has other rows"),
    "table": (
        lambda copy: shutil.copy(
            copy / "run-1" / "batches.parquet", copy / "run-1" / "points.parquet"
        ),
        "run-1",
    ),
    "page": (_replaced("report.html", "</title>", " </title>"), "report.html does not match"),
    "criteria": (
        _replaced("criteria.toml", "min_efficiency = 0.95", "min_efficiency = 0.9"),
        "criteria.toml and result.json have different values",
    ),
    "disclosure": (_replaced("disclosure.json", '"n1"', '"n7"'), "disclosure.json contradicts"),
    "no criteria": (lambda copy: (copy / "criteria.toml").unlink(), "criteria.toml"),
    "no disclosure": (lambda copy: (copy / "disclosure.json").unlink(), "disclosure.json"),
    "no result": (lambda copy: (copy / "result.json").unlink(), "result.json"),
    "no page": (lambda copy: (copy / "report.html").unlink(), "lacks report.html"),
    "no dossier": (lambda copy: (copy / "dossier.json").unlink(), "lacks dossier.json"),
    "no records": (lambda copy: shutil.rmtree(copy / "run-1"), "lacks the records"),
    "other dossier": (
        lambda copy: edited(copy / "dossier.json", lambda one: one.update(verdict="fail")),
        "different verdicts",
    ),
    "chosen": (
        lambda copy: edited(
            copy / "dossier.json", lambda one: one["criteria"][1].update(chosen=True, source="us")
        ),
        "dossier.json states its criteria in a form that no check writes",
    ),
    "source": (_replaced("criteria.toml", "(agreed.toml)", "(both)"), "contradicts"),
    "broken": (lambda copy: (copy / "dossier.json").write_text("{"), "dossier.json is damaged"),
    "foreign": (
        lambda copy: (copy / "dossier.json").write_text("{}"),
        "not a dossier of wireproof",
    ),
}


@pytest.mark.parametrize("attack", OTHERS)
def test_an_edit_that_is_sealed_anew_contradicts_the_rest(copy: Path, attack: str) -> None:
    change, said = OTHERS[attack]
    change(copy)
    assert said in refused(resealed(copy))


def test_one_of_a_newer_version_is_refused_by_name(copy: Path) -> None:
    edited(copy / "dossier.json", lambda one: one.update(schema=9, wireproof="7.1", strange=1))
    sentence = refused(resealed(copy))
    assert (
        "dossier.json was made by a newer wireproof (format 9 of '7.1', and this one reads"
        in sentence
    )
    edited(copy / "dossier.json", lambda one: one.update(schema=1))
    edited(copy / "result.json", lambda one: one.update(schema=9))
    assert "made by a newer wireproof" in refused(resealed(copy))


def test_one_of_older_rules_is_judged_by_those_of_today(copy: Path) -> None:
    """What they conclude otherwise is said; the verdict is that of the records."""
    other = {"wireproof": "0.0.1"}
    change = {"verdict": "fail", "conclusions": [{"severity": "fail", "code": "a-rule-of-before"}]}
    edited(copy / "dossier.json", lambda one: one.update(verdict="fail", rules="1" * 64, **other))
    edited(copy / "dossier.json", lambda one: one.update(program="1" * 64))
    edited(copy / "result.json", lambda one: (one.update(other), _part(one).update(change)))
    found = verified(resealed(copy))
    assert (found.verdict, found.judged.before) == ("pass", "fail")
    assert (found.judged.same_rules, found.judged.page) == (False, None)
    text = document_text(verification_document(found), Look(width=2000))
    assert "pass now; wireproof 0.0.1 said fail; the findings differ" in text
    assert "(the rules have changed)" in text
    assert "no longer: fail a-rule-of-before" in text
    assert "report.html was not compared" in text


@pytest.mark.parametrize("what", ["empty", "file", "nothing"])
def test_what_is_no_dossier_is_said(tmp_path: Path, what: str) -> None:
    place = tmp_path / "place"
    if what == "empty":
        place.mkdir()
    elif what == "file":
        place.write_text("")
    assert ("has no SHA256SUMS" if what == "empty" else "is not a folder") in refused(place)


# --- the other verbs


def test_a_report_leaves_it_as_it_is(copy: Path, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    report([copy], LoggingReporter())
    report([copy], LoggingReporter(), form="svg")
    report([copy], LoggingReporter(), page=tmp_path / "page.html")
    assert (tmp_path / "page.html").read_bytes() == before[copy / "report.html"]
    with pytest.raises(BadInput, match="an additional file would break it"):
        report([copy], LoggingReporter(), page=copy / "new.html")
    assert before == {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}


def test_an_altered_one_is_no_result_for_other_verbs(copy: Path) -> None:
    edited(copy / "result.json", _set("criteria", "min_efficiency", value=0.5))
    with pytest.raises(BadInput, match=r"result\.json was changed"):
        report([copy], LoggingReporter(), pages=False)
    found = gate(copy)
    assert found.verdict == "inconclusive"
    assert "is not the sealed file" in found.reason


def test_what_is_resumed_is_no_dossier_any_more(copy: Path) -> None:
    (copy / "SHA256SUMS.sig").write_text("")
    unseal(copy, LoggingReporter())
    assert not {MANIFEST, "SHA256SUMS.sig", "dossier.json"} & {p.name for p in copy.iterdir()}
    assert "has no SHA256SUMS" in refused(copy)


# --- what a check leaves that was killed, or has no room


def test_what_a_killed_wireproof_left_is_no_part_of_it(made: Path, tmp_path: Path) -> None:
    folder = tmp_path / "killed"
    shutil.copytree(made / "run-1", folder / "run-1")
    for name in (".reserve", ".points.parquet.new"):
        (folder / "run-1" / name).write_text("half")
    (folder / "run-1" / "batches.parquet").unlink()
    resumed(folder)
    assert verified(folder).files == len(FILES)


@pytest.mark.parametrize("what", ["not ours", "full", "no page", "no result"])
def test_what_cannot_be_sealed_is_said_and_no_dossier(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    def full(*_arguments: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    folder = tmp_path / "open"
    shutil.copytree(made / "run-1", folder / "run-1")
    place, said = {
        "not ours": ("", ".notes': remove it"),
        "full": ("archive.dossier.write_manifest", "No space left on device"),
        "no page": ("measure.result._write_page", "it has no report.html"),
        "no result": ("measure.result.write_result", "it has no result.json"),
    }[what]
    (folder / ".notes").write_text("mine" if what == "not ours" else "")
    if place:
        (folder / ".notes").unlink()
        lost = (lambda *_arguments: None) if what == "no page" else full
        module, _, name = place.rpartition(".")
        monkeypatch.setattr(import_module(f"wireproof.{module}"), name, lost)
    result = resumed(folder)
    assert said in result.left_open
    assert f"wireproof resume {folder}" in result.left_open
    assert result.verdict == "pass"
    assert ended(result) == 4
    assert "has no SHA256SUMS" in refused(folder)
