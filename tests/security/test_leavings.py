"""What launchers leave behind, and what is said of a launch that somebody ended."""

import errno
import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from tests.records import PROVENANCE, made_plan, opened

from wireproof.cli.console import Console
from wireproof.cli.options import deliver
from wireproof.files.held import temporary_folder
from wireproof.instrument import Outcome, process
from wireproof.instrument.ending import Ending, classify, unreachable
from wireproof.instrument.process import hydra_files_removed, scratch
from wireproof.launch.fanout import HostAnswer
from wireproof.measure.document import run_document
from wireproof.measure.result import MeasuredPart, Result
from wireproof.measure.session import Session
from wireproof.measure.session.run import _Attempts
from wireproof.model.claim import Claim
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.plan import Point, Transport
from wireproof.model.record import Start
from wireproof.model.run import Run
from wireproof.report.document import Document
from wireproof.target import Target
from wireproof.target.availability import Availability


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_a_launchers_temporary_files_go_with_the_run(temporary: Path) -> None:
    """Temporary files of a launch on this machine are in a separate folder, which is removed at its
    end.
    """
    with scratch(True) as variables:
        folder = Path(variables["TMPDIR"])
        assert folder.parent == temporary
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "ompi.host.0").mkdir()
        (folder / "ompi.host.0" / "pid").symlink_to("/etc")
    assert list(temporary.iterdir()) == []
    with scratch(False) as variables:
        assert variables == {}


def test_what_a_killed_run_has_left_is_removed_by_the_next(temporary: Path) -> None:
    old = time.time() - 3600
    dead, alive, link = (temporary / f"wireproof-tmp-{name}" for name in ("dead", "alive", "link"))
    for folder in (dead, alive):
        folder.mkdir()
        (folder / "ompi").mkdir()
    lock = process._lock(alive)
    assert lock is not None
    link.symlink_to(alive)
    (temporary / "wireproof-tmp-file").touch()
    for path in (dead, alive):
        os.utime(path, (old, old))
    os.utime(link, (old, old), follow_symlinks=False)
    with scratch(True):
        assert not dead.exists()
        assert (alive / "ompi").is_dir()
        assert link.is_symlink()
    os.close(lock)


def _fill(place: Path) -> None:
    for name in "abc":
        (place / name).write_text("x")


@pytest.mark.parametrize("after", [0, 1, 2])
def test_an_interrupt_while_a_temporary_folder_is_removed_leaves_nothing(
    temporary: Path, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [after]
    real = os.unlink

    def unlink(*given: Any, **named: Any) -> None:
        left[0] -= 1
        if left[0] == -1:
            raise KeyboardInterrupt
        real(*given, **named)

    monkeypatch.setattr(os, "unlink", unlink)
    with pytest.raises(KeyboardInterrupt), temporary_folder("wireproof-") as place:
        _fill(Path(place))
    assert not list(temporary.iterdir())


@pytest.mark.parametrize("number", [errno.EBUSY, errno.ENOTEMPTY, errno.ESTALE])
def test_what_a_file_server_keeps_of_a_temporary_folder_costs_no_verdict(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rmdir(path: Any, **_: Any) -> None:
        raise OSError(number, os.strerror(number), path)

    monkeypatch.setattr(os, "rmdir", rmdir)
    with temporary_folder("wireproof-") as place:
        _fill(Path(place))


@pytest.mark.root
def test_another_users_folder_is_not_touched(temporary: Path) -> None:
    theirs = temporary / "wireproof-tmp-theirs"
    theirs.mkdir()
    os.chown(theirs, 65534, 65534)
    os.utime(theirs, (1, 1))
    with scratch(True):
        assert theirs.is_dir()


@pytest.mark.parametrize("lives", [False, True])
def test_hydras_files_are_removed_when_they_are_nobodys(
    temporary: Path, lives: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_hydra_lives", lambda: lives)
    old, link = temporary / "hydra_hwloc_xmlfile_old", temporary / "hydra_hwloc_xmlfile_link"
    old.touch()
    os.utime(old, (1, 1))
    link.symlink_to(old)
    with hydra_files_removed(temporary):
        (temporary / "hydra_hwloc_xmlfile_now").touch()
        (temporary / "another").touch()
    kept = {path.name.rpartition("_")[2] for path in temporary.iterdir()}
    assert kept == {"old", "link", "another"} | ({"now"} if lives else set())


# --- what is said

PLAN = made_plan(
    [
        Point(id=number, pattern="stream", message_bytes=8 << number, pairs=((0, 1),))
        for number in range(3)
    ]
)
OPENED = opened()


@pytest.mark.parametrize("status", [-9, 137])
def test_a_killed_launcher_is_named_as_the_launcher(status: int) -> None:
    """mpirun that somebody kills says nothing of ranks; a rank's death is always told by its
    launcher.
    """
    ending = classify(PLAN, [OPENED, Start(id=1)], b"", status)
    assert ending.reason.startswith("the launcher was killed by SIGKILL at point 1")
    ending = classify(
        PLAN,
        [OPENED, Start(id=1)],
        b"=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n",
        status,
    )
    assert ending.reason.startswith("a rank was killed by SIGKILL")


def test_ranks_that_never_meet_give_the_candidates() -> None:
    said = unreachable(PLAN)
    for word in ("MTU", "firewall", "translated", "n1", "n2"):
        assert word in said
    assert unreachable(msgspec.structs.replace(PLAN, transport=Transport(kind="null"))) == ""


def _outcome(
    ended: str,
    folder: Path,
    *,
    culprit: int | None = None,
    reason: str = "late",
    points: object = (),
) -> Outcome:
    run = Run(
        claim=Claim(hosts=[]),
        provenance=PROVENANCE,
        open=None,
        hosts=[],
        points=list(points),  # type: ignore[call-overload]
    )
    return Outcome(
        run=run,
        ending=Ending(ended=ended, reason="late", culprit=culprit),
        exit_status=1,
        folder=folder,
    )  # type: ignore[arg-type]


def _point(number: int) -> object:
    return SimpleNamespace(id=number)


def test_a_late_point_costs_itself_and_not_those_behind_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, ...]] = []

    def launch(_attempts: object, wish: Session) -> Outcome:
        ids = tuple(point.id for point in wish.points)
        seen.append(ids)
        if 0 in ids:
            return _outcome("deadline", tmp_path, culprit=0)
        return _outcome("done", tmp_path, points=map(_point, ids))

    monkeypatch.setattr(_Attempts, "launch", launch)
    wish = Session(title="t", points=PLAN.points, seed=1, out=tmp_path / "run")
    found = _Attempts(Target(hosts=(), start_on=()), Claim(hosts=[]), Console()).run(wish)
    assert seen == [(0, 1, 2), (1, 2)]
    assert [len(one.run.points) for one in found] == [0, 2]


def test_no_deleted_log_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Attempts, "launch", lambda *_: _outcome("deadline", tmp_path, culprit=0))
    wish = Session(
        title="t",
        points=PLAN.points[:1],
        seed=1,
        transport="model",
        out=tmp_path / "run",
        kept=False,
    )
    with pytest.raises(CouldNotMeasure) as caught:
        _Attempts(Target(hosts=(), start_on=()), Claim(hosts=[]), Console()).run(wish)
    assert "engine.log" not in str(caught.value)
    assert "--out" in str(caught.value)


def test_what_is_kept_nowhere_is_not_said_to_be_kept(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    section = SimpleNamespace(
        title="t", run=SimpleNamespace(points=[]), judgement=SimpleNamespace(verdict="inconclusive")
    )
    for ended, folder, status, said in (
        ("interrupted", None, 130, "but not kept"),
        ("disk-full", None, 4, "the disk became full"),
    ):
        result = Result(parts=(MeasuredPart(section, [_outcome(ended, tmp_path)]),), folder=folder)  # type: ignore[arg-type]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                sys.modules[run_document.__module__],
                "run_document",
                lambda *_, **__: Document("t", "shown", ()),
            )
            assert deliver(result) == status
        assert said in capsys.readouterr().err


LISTED = "/sys/class/net:\neth0\nib1\nlo\n\n/sys/class/infiniband:\nmlx5_0\n"


def _place(nic: str) -> Target:
    return Target(hosts=("n1", "n2"), start_on=("n1", "n2"), nics=(nic, nic))


def test_a_nic_that_no_host_has_is_named_before_anything_is_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from wireproof.launch import fanout

    monkeypatch.setattr(fanout, "reachable", lambda hosts, **_: dict.fromkeys(hosts, ""))
    monkeypatch.setattr(
        fanout, "facts_by_host", lambda hosts, *_: {host: HostAnswer(text=LISTED) for host in hosts}
    )
    with pytest.raises(BadInput, match="no host has the NIC ib0: n1 has eth0, ib1, mlx5_0"):
        Availability(Console()).absent(_place("ib0"), (0, 1))
    with pytest.raises(BadInput, match="no host has the NIC"):
        Availability(Console()).check_nics(_place("ib0"))
    for nic in ("eth0", "mlx5_0:1", "mlx5_0"):
        assert Availability(Console()).absent(_place(nic), (0, 1)) == {}


def test_a_host_without_the_nic_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from wireproof.launch import fanout

    answers = {"n1": HostAnswer(text=LISTED), "n2": HostAnswer(text="/sys/class/net:\neth0\nlo\n")}
    monkeypatch.setattr(fanout, "reachable", lambda hosts, **_: dict.fromkeys(hosts, ""))
    monkeypatch.setattr(
        fanout, "facts_by_host", lambda hosts, *_: {host: answers[host] for host in hosts}
    )
    assert Availability(Console()).absent(_place("ib1"), (0, 1)) == {
        1: "n2 has no NIC ib1: it has eth0"
    }
    monkeypatch.setattr(
        fanout, "facts_by_host", lambda hosts, *_: dict.fromkeys(hosts, HostAnswer(problem="no"))
    )
    assert (
        Availability(Console()).absent(_place("ib7"), (0, 1)) == {}
    )  # who cannot be asked is not blamed
