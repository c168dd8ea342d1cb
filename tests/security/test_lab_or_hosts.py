"""Names that are nodes of a lab and of real hosts: what is measured is never a guess."""

from types import SimpleNamespace

import pytest

from wireproof.lab import cluster, state
from wireproof.model.errors import BadInput
from wireproof.options.resolve import resolve
from wireproof.options.table import Options
from wireproof.target import Target
from wireproof.target import resolve as lab_or_hosts
from wireproof.target.resolve import lab_of, real_host, resolve_target


@pytest.fixture(autouse=True)
def running(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A lab with the nodes n1 and n2; which names are real hosts."""
    real: list[str] = []
    topology = SimpleNamespace(nodes=("n1", "n2"))
    monkeypatch.setattr(
        state, "find_labs", lambda: [SimpleNamespace(name="demo", state="up", topology=topology)]
    )
    monkeypatch.setattr(cluster, "open_lab", lambda name: SimpleNamespace(name=name))
    monkeypatch.setattr(lab_or_hosts, "_has_address", lambda host: host in real)
    monkeypatch.setattr(lab_or_hosts, "_configured", lambda host: False)
    return real


def test_nodes_of_a_lab_are_found_by_their_names() -> None:
    assert lab_of(("n1", "n2"), None) == SimpleNamespace(name="demo")
    assert lab_of(("n1", "n3"), None) is None


def test_names_of_a_lab_that_are_real_hosts_too_are_an_error(running: list[str]) -> None:
    """Names that are both nodes of a lab and real hosts are an error: wireproof never guesses what
    to measure.
    """
    running.append("n2")
    with pytest.raises(
        BadInput,
        match=r"n2 is both a node of lab demo and a real host.*--lab demo or --launcher ssh",
    ):
        lab_of(("n1", "n2"), None)
    with pytest.raises(BadInput):
        resolve_target(Options(hosts=("n1", "n2")), {})
    assert lab_of(("n1", "n2"), "demo") is not None


@pytest.mark.parametrize("origin", ["option", "environment"])
def test_an_explicit_launcher_wins_over_a_lab_of_the_same_names(
    running: list[str], origin: str
) -> None:
    running += ["n1", "n2"]
    options, environment = {"hosts": "n1,n2"}, {}
    if origin == "option":
        options["launcher"] = "ssh"
    else:
        environment["WIREPROOF_LAUNCHER"] = "ssh"
    place = resolve_target(resolve(options, environment), environment)
    assert place.lab is None
    assert place.hosts == ("n1", "n2")


@pytest.mark.parametrize("transport", ["model", "null"])
def test_hosts_that_are_only_played_are_no_nodes_of_a_lab(transport: str) -> None:
    options = resolve({"hosts": "n1,n2", "transport": transport}, {})
    assert resolve_target(options, {}).lab is None


def test_prove_obeys_the_same_rule(running: list[str]) -> None:
    from wireproof.watch.hosts import target_of_command

    def target(argv: tuple[str, ...], **options: str) -> Target:
        settings = resolve(options, {})
        return target_of_command(settings, argv, lab=None, link=None, environment={})

    assert target(("true",), hosts="n1,n2", launcher="ssh").lab is None
    running.append("n1")
    with pytest.raises(BadInput, match="and a real host"):
        target(("mpirun", "-hosts", "n1,n2", "x"))


def test_a_name_server_that_does_not_answer_holds_nothing_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import threading

    free = threading.Event()
    monkeypatch.setattr(lab_or_hosts, "_has_address", lambda host: free.wait(30) and False)
    monkeypatch.setattr(lab_or_hosts, "ASK_S", 0.05)
    assert real_host(("n1", "n2")) == ""
    free.set()
