"""Text from hosts, files and folders: what a person or a terminal sees of it cannot fool either."""

import json
import os
import re
from pathlib import Path
from xml.dom import minidom

import msgspec
import pytest
from tests.made_history import fill
from tests.rendered import text_of
from tests.synthetic import World, run_of

from wireproof.cli import main
from wireproof.cli.console import say
from wireproof.instrument.watch import Follower, _reason
from wireproof.measure.export import page_of
from wireproof.model.claim import Criteria
from wireproof.model.record import EngineError, FactFrame
from wireproof.model.run import Missing, Run
from wireproof.report.document import Document, Raw, Steps
from wireproof.report.ink import Look
from wireproof.report.json import json_text
from wireproof.report.json.result import document_of
from wireproof.report.judged_run import JudgedRun
from wireproof.report.markdown import document_markdown
from wireproof.report.names import harmless
from wireproof.store.snapshot import write_snapshot
from wireproof.verdict.run import judge

EVIL = "</script><script>alert(1)</script>\"'\x1b]0;P\x07\x9b31m\u202e\u2066\u200f\x85\u2028\x7f"
UNSAFE = set("\x1b\x07\x9b\u202e\u2066\u200f\x85\u2028\x7f")


def _evil_run() -> Run:
    """A run in which every text is hostile."""
    run = run_of(
        World(
            link="10gbe",
            mtu=9000,
            nodes=3,
            sizes=(8, 65536, 1 << 20),
            speed=lambda a, b: 0.5 if a else 1.0,
        )
    )
    replace = msgspec.structs.replace
    hosts = [
        replace(
            host,
            host=f"h{host.rank}{EVIL}",
            hostname=EVIL,
            library=EVIL,
            library_path=EVIL,
            cpus_allowed=EVIL,
            nics=[
                replace(
                    nic,
                    name=nic.name if nic.name in ("hsn0", "lo") else EVIL,
                    driver=EVIL,
                    pci=EVIL,
                )
                for nic in host.nics
            ],
        )
        for host in run.hosts
    ]
    points = [
        replace(p, formula=EVIL, witness=[replace(w, unreadable=[EVIL]) for w in p.witness])
        for p in run.points
    ]
    claim = replace(
        run.claim, hosts=[replace(one, host=f"h{one.rank}{EVIL}") for one in run.claim.hosts]
    )
    provenance = replace(
        run.provenance, mpi=EVIL, argv=[EVIL], environment={EVIL: EVIL}, notes=[EVIL], started=EVIL
    )
    return replace(
        run,
        hosts=hosts,
        points=points,
        claim=claim,
        provenance=provenance,
        missing={999: Missing("failed", EVIL)},
        errors=[EngineError(code=EVIL, message=EVIL, rank=0)],
        facts=[
            FactFrame(
                rank=0, kind="command", status="ok", argv=[EVIL], text=EVIL, path=EVIL, reason=EVIL
            )
        ],
    )


@pytest.fixture(scope="module")
def section() -> JudgedRun:
    run = _evil_run()
    return JudgedRun(
        title=EVIL, run=run, judgement=judge(run), limits=None, criteria=Criteria(), lead=EVIL
    )


def test_text_and_json_are_harmless(section: JudgedRun) -> None:
    """Values from outside are escaped in text, in JSON and in the page: no terminal escape and no
    bidirectional override reaches you.
    """
    assert not UNSAFE & set(text_of(section, Look()))
    text = json_text(document_of(section))
    assert text.isascii()
    assert not UNSAFE & set(text)


def test_the_page_is_harmless(section: JudgedRun) -> None:
    page = page_of([section], EVIL)
    assert not UNSAFE & set(page)
    assert "<script>alert" not in page


def test_what_is_said_is_one_harmless_line(capsys: pytest.CaptureFixture[str]) -> None:
    say(f"a\n{EVIL}\r\nb")
    (line,) = capsys.readouterr().err.splitlines()
    assert not UNSAFE & set(line)


def test_every_json_is_ascii_and_the_same_value() -> None:
    value = {"a": [EVIL, "日本", "\U0001f600"], "b": 1.5, "c": None}
    for indent in (0, 2):
        text = json_text(value, indent=indent)
        assert text.isascii()
        assert json.loads(text) == value
    assert json.loads(json_text({"\udcff": ["\ud800"]})) == {"\\udcff": ["\\ud800"]}
    assert json.loads(json_text([float("inf"), float("nan")])) == [None, None]


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_name_of_a_file_is_harmless_everywhere(
    tmp_path: Path, more: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    log = "# OSU MPI Latency Test v7.4\n# Size       Latency (us)\n1  1.90\n2  1.91\n"
    for number, name in enumerate((b"\xff\x9b", b"\x1b[31m", "\u202eevil".encode(), b"a\nb")):
        path = os.fsencode(tmp_path) + b"/" + name
        Path(os.fsdecode(path)).write_text(log if number % 2 else "nothing", encoding="utf-8")
    assert main(["judge", str(tmp_path), *more]) in (2, 3)
    assert main(["lint", *(str(path) for path in tmp_path.iterdir()), *more]) in (0, 1, 2)
    told = capsys.readouterr()
    assert not UNSAFE & set(told.out + told.err)


def test_the_path_of_what_was_written_is_one_harmless_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A history in a folder that a stranger has named."""
    root = tmp_path / "a\nPASS  \x1b[31m\u202eevil"
    fill(root)
    assert main(["history", "pages", str(root)]) == 0
    told = capsys.readouterr()
    assert not UNSAFE & set(told.out + told.err)
    assert len(told.out.splitlines()) == 1


def test_a_command_with_line_breaks_is_no_markup() -> None:
    command = "wireproof report 'a\n\n<img src=x>\n# b'"
    parts = (Steps((("next", command),)), Raw((command,)))
    text = document_markdown(Document("t", "", parts))
    assert not re.search(r"^(<img|#+ b)", text, re.MULTILINE)


def test_a_watch_that_fails_is_told_harmlessly() -> None:
    assert not UNSAFE & set(_reason(1, EVIL.encode()))
    assert not UNSAFE & set(_reason(127, EVIL.encode()))
    follower = Follower("n1")
    follower.feed(b'{"frame": "' + EVIL.encode() + b'"}\n')
    assert follower.error
    assert not UNSAFE & set(follower.error)


@pytest.mark.parametrize(
    "line",
    [
        b'{"frame":"watch","schema":1,"hostname":"n1","interval_ms":-5}',
        b'{"frame":"watch","schema":1,"hostname":"n1","interval_ms":100}\n{"frame":"reading","t_ns":-1,"counters":{}}',
        (
            b'{"frame":"watch","schema":1,"hostname":"n1","interval_ms":100}\n'
            b'{"frame":"reading","t_ns":1,"counters":{"net/eth0/tx_bytes":-7}}'
        ),
    ],
)
def test_a_hosts_answer_with_numbers_that_cannot_be_is_refused(line: bytes) -> None:
    """The answers of a host are checked before they are used."""
    follower = Follower("n1")
    follower.feed(line + b"\n")
    assert "impossible number" in follower.error


def test_harmless_keeps_what_is_plain() -> None:
    for text in ("plain text\twith\nlines", "µs – 日本 …"):
        assert harmless(text) == text
    assert harmless("\x1b\u202e\r") == "\\x1b\\u202e\\r"


@pytest.mark.parametrize(
    "form", ["text", "html", "markdown", "json", "sarif", "junit", "openmetrics", "nhc"]
)
def test_a_hostile_name_of_a_host_is_harmless_in_every_form_of_an_audit(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Other programs read most of these forms."""
    path = "/proc/sys/net/core/rmem_max"
    facts = [FactFrame(rank=0, kind="file", status="ok", path=path, text=f"1{EVIL}\n|`")]
    write_snapshot(tmp_path / "snapshot", {f"{EVIL}\n{{|`{at}": facts for at in range(2)})
    assert main(["audit", "--from", str(tmp_path / "snapshot"), "--format", form]) in (1, 3)
    shown = capsys.readouterr()
    assert not UNSAFE & set(shown.out + shown.err)
    if form in ("json", "sarif"):
        json.loads(shown.out)
    elif form == "junit":
        minidom.parseString(shown.out)  # noqa: S318
    elif form == "openmetrics":
        sample = r'[a-z_]+(\{(\w+="(\\.|[^"\\])*",?)*\})? \S+'
        lines = [line for line in shown.out.splitlines() if not line.startswith("#")]
        assert all(re.fullmatch(sample, line) for line in lines), lines
    elif form == "html":
        assert "<script>alert" not in shown.out
