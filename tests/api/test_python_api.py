"""The Python API as a program uses it: documents and exceptions, and nothing left behind."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from tests.cli.verb import document
from tests.cli.verb import wireproof as verb

import wireproof

ROOT = Path(__file__).resolve().parents[2]
LOG = ROOT / "examples" / "logs" / "osu_latency-shared-memory.out"
WORLD = ROOT / "examples" / "worlds" / "slow-node.toml"
FOUR = ("n1", "n2", "n3", "n4")


def in_a_new_process(script: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True
    )
    return done.stdout


def test_the_import_loads_nothing_else() -> None:
    script = (
        "import sys, wireproof; print(*(m for m in sys.modules"
        " if m.split('.')[0] in ('wireproof', 'click', 'msgspec', 'numpy')))"
    )
    assert in_a_new_process(script).split() == ["wireproof"]


def test_every_public_name_is_there() -> None:
    for name in wireproof.__all__:
        assert getattr(wireproof, name) is not None
    assert set(wireproof.__all__) <= set(dir(wireproof))
    with pytest.raises(AttributeError, match="no attribute 'chek'"):
        getattr(wireproof, "chek")  # noqa: B009  the name is wrong on purpose


def test_functions_stay_functions_when_packages_of_their_names_are_loaded() -> None:
    script = (
        "import wireproof.locate.samples, wireproof.lint, wireproof\n"
        "from wireproof.locate.samples import Samples\n"
        "print(callable(wireproof.locate), callable(wireproof.lint), Samples.__name__)"
    )
    assert in_a_new_process(script) == "True True Samples\n"


@pytest.mark.engine
def test_a_measurement_gives_its_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = wireproof.measure(
        "pingpong",
        transport="model",
        model="latency_ns=1500,gap_ns_per_byte=0.1",
        sizes=[8, 1024],
        budget=0.05,
    )
    by_size = {one.message_bytes: one for one in found.samples}
    assert set(by_size) == {8, 1024}
    assert by_size[8].p50_ns == pytest.approx(1500.8, rel=0.01)
    assert (found.verdict, found.proof) == ("inconclusive", "unproven")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.engine
def test_the_document_is_that_of_the_command_line(tmp_path: Path) -> None:
    words = "measure pingpong --transport model --sizes 8 --budget 50ms --json"
    printed = document(verb(*words.split(), cwd=tmp_path))
    found = msgspec.to_builtins(
        wireproof.measure("pingpong", transport="model", sizes="8", budget="50ms")
    )
    assert found.keys() == printed.keys()
    assert found["samples"][0].keys() == printed["samples"][0].keys()
    assert found["verdict"] == printed["verdict"]


def slow(rank: int) -> list[str]:
    """Culprits of a check of four played hosts, of which one sends at half the rate."""
    documents = wireproof.check(
        hosts=FOUR, transport="model", budget=0.02, model_faults=[f"rank={rank},tx=0.5"]
    )
    assert len(documents) == 1
    return [
        finding.subject
        for finding in documents[0].findings
        if finding.code in ("port-slow", "node-slow")
    ]


@pytest.mark.engine
def test_two_checks_in_one_process_know_nothing_of_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WIREPROOF_TRANSPORT", "nonsense")
    (tmp_path / "wireproof.toml").write_text('transport = "nonsense"\n')
    before = dict(os.environ)
    assert slow(2) == ["n3 tx"]
    assert slow(1) == ["n2 tx"]
    assert dict(os.environ) == before
    assert [path.name for path in tmp_path.iterdir()] == ["wireproof.toml"]
    assert capfd.readouterr() == ("", "")


@pytest.mark.engine
def test_a_check_in_a_thread_installs_no_signal_handler() -> None:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    found: list[list[str]] = []
    threads = [
        threading.Thread(target=lambda rank=rank: found.append(slow(rank))) for rank in (0, 3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert sorted(found) == [["n1 tx"], ["n4 tx"]]
    assert [signal.getsignal(number) for number in numbers] == before


@pytest.mark.engine
def test_what_is_kept_can_be_located_again(tmp_path: Path) -> None:
    out = tmp_path / "check"
    wireproof.check(
        hosts="n[1-4]", transport="model", budget="20ms", model_faults=["rank=0,rx=0.5"], out=out
    )
    assert (out / "report.html").is_file()
    located = wireproof.locate(out).located
    assert [blamed.subject for one in located for blamed in one.blames] != []
    with pytest.raises(wireproof.BadInput, match="is not empty"):
        wireproof.check(hosts="n[1-4]", transport="model", out=out)


def test_a_synthetic_cluster_is_located() -> None:
    assert wireproof.locate(world=WORLD).located[0].blames


class Heard(wireproof.LoggingReporter):
    """Remembers what was said, and of how many points."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def warn(self, text: str) -> None:
        self.said.append(text)


@pytest.mark.engine
def test_a_reporter_hears_what_happens(tmp_path: Path) -> None:
    topology = tmp_path / "topology.conf"
    topology.write_text("SwitchName=leaf Nodes=n[1-9]\n")
    heard = Heard()
    wireproof.check(hosts=FOUR, transport="model", budget=0.02, topology=topology, reporter=heard)
    assert any("n5" in text or "n[5-9]" in text for text in heard.said), heard.said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"hosts": "n1", "transport": "model"}, "has no partner"),
        ({"hosts": "n1,n2", "link": "10gb"}, "10gb"),
        ({"transport": "pigeon"}, "not one of null, model, mpi, tcp"),
        ({"hosts": "n1,n2", "transport": "model", "budget": "long"}, "not understood"),
        ({"hosts": FOUR, "transport": "model", "model_faults": ["rank=4"]}, "a rank below 4"),
    ],
)
def test_bad_input_is_an_exception(options: dict[str, object], words: str) -> None:
    with pytest.raises(wireproof.BadInput, match=words):
        wireproof.check(**options)  # type: ignore[arg-type]


def test_a_pattern_that_there_is_not_is_bad_input() -> None:
    with pytest.raises(wireproof.BadInput, match="did you mean pingpong"):
        wireproof.measure("pingpon")
    with pytest.raises(wireproof.BadInput, match="--order is for ring"):
        wireproof.measure("stream", order="random", transport="model")


def test_a_misspelt_option_is_the_callers_mistake() -> None:
    with pytest.raises(TypeError, match="no option 'host'"):
        wireproof.check(host="n1,n2")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="no option 'profile'"):
        wireproof.measure("stream", profile="quick")  # type: ignore[call-arg]


def test_an_error_is_one_sentence() -> None:
    with pytest.raises(wireproof.WireproofError) as caught:
        wireproof.locate(Path("/nowhere/at-all"))
    assert "\n" not in str(caught.value)


@pytest.mark.engine
def test_the_example_runs_anywhere(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "python_api.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=120,
        check=True,
    )
    assert "1500.64 ns" in done.stdout
    assert "n5" in done.stdout
    assert "bad input: one host (n1) has no partner" in done.stdout
    assert list(tmp_path.iterdir()) == []


NOWHERE = "/nowhere/at-all"
LOCAL = {"transport": "null", "budget": 0.01}


@pytest.mark.engine
@pytest.mark.parametrize(
    "call",
    [
        lambda: wireproof.audit(source=NOWHERE),
        lambda: wireproof.audit(site=NOWHERE),
        lambda: wireproof.check(criteria=NOWHERE, **LOCAL),
        lambda: wireproof.check(topology=NOWHERE, **LOCAL),
        lambda: wireproof.check(physics=NOWHERE, **LOCAL),
        lambda: wireproof.measure("pingpong", physics=NOWHERE, **LOCAL),
        lambda: wireproof.locate(NOWHERE),
        lambda: wireproof.locate(world=NOWHERE),
        lambda: wireproof.report(NOWHERE),
        lambda: wireproof.compare(NOWHERE, NOWHERE),
        lambda: wireproof.judge("1 2\n", link="10gbe", physics=NOWHERE),
        lambda: wireproof.judge("1 2\n", link="10gbe", site=NOWHERE),
        lambda: wireproof.plan_footprint(2, 2, "rxm", device=NOWHERE),
        lambda: wireproof.plan_footprint(2, 2, "rxm", observed=NOWHERE),
        lambda: wireproof.plan_scale(2, run=NOWHERE),
        lambda: wireproof.plan_validate(2, run=NOWHERE),
        lambda: wireproof.tune_plan("swappiness", source=NOWHERE),
        lambda: wireproof.tune_plan("swappiness", root=NOWHERE),
    ],
)
def test_a_path_may_be_given_as_text(call: Callable[[], object]) -> None:
    """A text that leads nowhere is bad input, as a Path is."""
    with pytest.raises(wireproof.BadInput):
        call()


def test_the_results_of_a_proof_may_be_texts(tmp_path: Path) -> None:
    argv = ["sh", "-c", f"cat {LOG} > {tmp_path}/found"]
    found = wireproof.prove(argv, results=[str(tmp_path / "found")])
    assert found.series
