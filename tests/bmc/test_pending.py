"""Attributes are asked for, pending until a reboot, and taken back: sushy-tools' emulator and a BMC
that does not do what it is asked.
"""

from __future__ import annotations

import datetime
import errno
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from tests.bmc import emulator, server
from tests.bmc.certificate import Certificate
from tests.bmc.emulator import emulated
from tests.bmc.server import SYSTEM, Board, served

from wireproof.bmc import sets_of
from wireproof.files.hostile import replace_file
from wireproof.model.tuning import Bmc, HostTuned, PlannedAttribute, Raw, Secret
from wireproof.tune.with_bios import (
    apply_firmware,
    firmware_status,
    journals,
    revert_firmware,
)

SETTINGS = f"{SYSTEM}/Bios/Settings"


def bmc_at(port: int, certificate: Certificate, password: str) -> Bmc:
    return Bmc(
        host="n1",
        address="127.0.0.1",
        port=port,
        user="admin",
        password=Secret(password),
        authority=str(certificate.file),
    )


IDS = {"Turbo": "bios-turbo", "Smt": "bios-smt", "Nps": "bios-nps", "ProcTurboMode": "bios-turbo"}
ENTRIES = [
    {"AttributeName": "Turbo", "DisplayName": "Turbo Mode"},
    {"AttributeName": "Smt", "DisplayName": "Hyper-Threading"},
    {"AttributeName": "Nps", "DisplayName": "NUMA nodes per socket"},
    {"AttributeName": "BootMode", "DisplayName": "Boot Mode"},
]


def planned(attribute: str, was: Raw, wanted: Raw, pending: Raw | None = None) -> PlannedAttribute:
    return PlannedAttribute(
        id=IDS.get(attribute, "bios-turbo"),
        attribute=attribute,
        display=attribute,
        was=was,
        pending=was if pending is None else pending,
        wanted=wanted,
        why="w",
        undo="u",
    )


@pytest.fixture
def board(certificate: Certificate) -> Iterator[Board]:
    attributes = {"Turbo": "Disabled", "Smt": True, "Nps": 1, "BootMode": "Uefi"}
    with served(Board(attributes, ENTRIES), certificate) as board:
        yield board


class At:
    """One host's BMC and the folder of its journals."""

    def __init__(self, bmc: Bmc, folder: Path) -> None:
        self.bmc, self.folder = bmc, folder

    def apply(self, *changes: PlannedAttribute, name: str = "set-1") -> HostTuned:
        wanted = {"n1": list(changes)}
        (done,) = apply_firmware(wanted, [self.bmc], self.folder, name=name, by="test")
        return done

    def revert(self, name: str = "", *, force: bool = False) -> HostTuned:
        (done,) = revert_firmware([self.bmc], self.folder, name, force=force)
        return done

    def status(self) -> HostTuned:
        (done,) = firmware_status([self.bmc], self.folder)
        return done


@pytest.fixture
def at(board: Board, certificate: Certificate, tmp_path: Path) -> At:
    return At(bmc_at(board.port, certificate, server.PASSWORD), tmp_path / "state" / "firmware")


def states(done: HostTuned) -> list[str]:
    return [one.state for one in done.changes]


def test_the_emulator_s_attribute_is_pending_until_a_reboot_and_can_be_taken_back(
    certificate: Certificate, tmp_path: Path
) -> None:
    with emulated(tmp_path, certificate) as bmc:
        at = At(bmc_at(bmc.port, certificate, emulator.PASSWORD), tmp_path / "journal")
        done = at.apply(planned("ProcTurboMode", "Disabled", "Enabled"))
        assert (done.problem, states(done)) == ("", ["applied"])
        assert "pending" in done.changes[0].reason
        assert bmc.now["ProcTurboMode"] == "Disabled", "it does not count before a reboot"
        assert bmc.pending == {"ProcTurboMode": "Enabled"}
        assert "pending" in at.status().changes[0].reason
        assert states(at.revert()) == ["reverted"]
        assert bmc.pending["ProcTurboMode"] == "Disabled"
        at.apply(planned("ProcTurboMode", "Disabled", "Enabled"), name="set-2")
        bmc.reboot()
        assert at.status().changes[0].reason == "it is in force"
        done = at.revert()
        assert states(done) == ["reverted"]
        assert "Enabled is in force until the next reboot" in done.changes[0].reason
        assert {method for method, _, _ in bmc.requests} == {"GET", "PATCH"}, "no reset"


def test_what_is_asked_for_keeps_its_type_and_waits_for_the_reset(board: Board, at: At) -> None:
    at.apply(planned("Smt", True, False), planned("Nps", 1, 4))
    (patch,) = board.patches
    assert patch["Attributes"] == {"Smt": False, "Nps": 4}
    assert patch["@Redfish.SettingsApplyTime"] == {"ApplyTime": "OnReset"}
    changed = [path for method, path, _ in board.requests if method not in ("GET", "POST")]
    assert set(changed) == {SETTINGS, "/redfish/v1/SessionService/Sessions/7"}


def test_the_journal_has_the_old_values_before_anything_is_asked_for(board: Board, at: At) -> None:
    seen: list[Any] = []

    def looked(handler: BaseHTTPRequestHandler) -> None:
        seen.extend(sets_of(at.folder, "n1"))
        handler.close_connection = True  # and no answer: as if killed here

    board.pending = {"Turbo": "Auto"}
    board.replies["PATCH", SETTINGS] = looked
    done = at.apply(planned("Turbo", "Disabled", "Enabled", pending="Auto"))
    assert done.problem
    assert [one.old for one in seen[0].changes] == ["Auto"]
    assert seen[0].state == "writing"
    text = (at.folder / "set-1" / "n1.json").read_text(encoding="utf-8")
    assert server.PASSWORD not in text
    assert at.folder.stat().st_mode & 0o777 == 0o700


def test_broken_off_after_the_request_it_is_taken_back(board: Board, at: At) -> None:
    at.apply(planned("Turbo", "Disabled", "Enabled"))
    journal = at.folder / "set-1" / "n1.json"
    document = json.loads(journal.read_text(encoding="utf-8"))
    journal.write_text(json.dumps(document | {"state": "writing"}), encoding="utf-8")
    assert states(at.revert()) == ["reverted"]
    assert board.pending["Turbo"] == "Disabled"


def test_all_of_a_host_or_none(board: Board, at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    """A BMC that takes the request and one of the two values."""

    def half(handler: BaseHTTPRequestHandler) -> None:
        if not board.pending:
            board.pending = {"Turbo": "Enabled"}
        else:
            board.pending |= board.patches[-1]["Attributes"] if board.patches else {}
        handler.answer(200, {"Id": "Settings"})  # type: ignore[attr-defined]
        board.replies.pop(("PATCH", SETTINGS))

    monkeypatch.setattr("wireproof.tune.with_bios._PAUSES_S", (0.0,))
    board.replies["PATCH", SETTINGS] = half
    done = at.apply(planned("Turbo", "Disabled", "Enabled"), planned("Smt", True, False))
    assert states(done) == ["ignored", "ignored"]
    assert "the old values were requested again" in done.problem
    assert board.pending == {"Turbo": "Disabled", "Smt": True}
    assert [one.state for one in sets_of(at.folder, "n1")] == ["reverted"]


def test_a_bmc_that_makes_a_job_and_does_not_show_it_is_not_called_unchanged(
    board: Board, at: At, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wireproof.tune.with_bios._PAUSES_S", (0.0,))
    answers = iter([(202, {"Id": "JID_1"}), (400, {"error": {"message": "a job is pending"}})])
    board.replies["PATCH", SETTINGS] = lambda handler: handler.answer(*next(answers))  # type: ignore[attr-defined]
    done = at.apply(planned("Turbo", "Disabled", "Enabled"))
    assert "a job is pending" in done.problem
    assert "check its jobs" in done.problem
    assert [one.state for one in sets_of(at.folder, "n1")] == ["writing"]


def test_a_bmc_that_takes_a_moment_is_waited_for(
    board: Board, at: At, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wireproof.tune.with_bios._PAUSES_S", (0.0, 0.0, 0.0))

    def later(handler: BaseHTTPRequestHandler) -> None:
        handler.answer(202, {})  # type: ignore[attr-defined]
        board.replies["GET", SETTINGS] = shown

    def shown(handler: BaseHTTPRequestHandler) -> None:
        del board.replies["GET", SETTINGS]
        handler.answer(200, {"Attributes": dict(board.now)})  # type: ignore[attr-defined]
        board.pending = {"Turbo": "Enabled"}

    board.replies["PATCH", SETTINGS] = later
    assert states(at.apply(planned("Turbo", "Disabled", "Enabled"))) == ["applied"]


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (
            400,
            {"error": {"@Message.ExtendedInfo": [{"Message": "no such value"}]}},
            "no such value",
        ),
        (403, {}, "status 403"),
        (412, {}, "status 412"),
        (503, {"error": {"message": f"busy {server.PASSWORD}"}}, "busy (hidden)"),
    ],
)
def test_a_bmc_that_refuses_says_why(
    status: int, body: Any, said: str, board: Board, at: At
) -> None:
    board.replies["PATCH", SETTINGS] = lambda handler: handler.answer(status, body)  # type: ignore[attr-defined]
    done = at.apply(planned("Turbo", "Disabled", "Enabled"))
    assert states(done) == ["refused"]
    assert said in done.problem
    assert "nothing is changed" in done.problem


def test_a_plan_that_is_too_old_changes_nothing(board: Board, at: At) -> None:
    board.pending = {"Turbo": "Auto"}
    done = at.apply(planned("Turbo", "Disabled", "Enabled"))
    assert "has changed since the plan was made: Disabled and Auto" in done.problem
    assert not board.patches
    assert not at.folder.exists()


def test_only_attributes_of_settings_are_asked_for(board: Board, at: At) -> None:
    """A plan may be a file of someone else's."""
    for name in ("BootMode", "Gone", "SysPassword"):
        assert (
            "not the only attribute of the setting" in at.apply(planned(name, "Uefi", "b")).problem
        )
    assert not board.patches
    assert not at.folder.exists()


def test_a_bmc_that_applies_at_once_only_is_left_alone(board: Board, at: At) -> None:
    settings = board.documents[f"{SYSTEM}/Bios"]["@Redfish.Settings"]
    settings["SupportedApplyTimes"] = ["Immediate"]
    refused = at.apply(planned("Turbo", "Disabled", "Enabled"))
    assert "only apply settings immediately" in refused.problem
    assert not board.patches


def test_what_somebody_else_has_asked_for_is_left_unless_forced(board: Board, at: At) -> None:
    at.apply(planned("Turbo", "Disabled", "Enabled"))
    board.pending["Turbo"] = "Auto"
    done = at.revert()
    assert (states(done), board.pending["Turbo"]) == (["left"], "Auto")
    assert done.problem
    assert states(at.status()) == ["left"]
    assert states(at.revert("set-1", force=True)) == ["reverted"]
    assert board.pending["Turbo"] == "Disabled"
    assert not revert_firmware([at.bmc], at.folder), "nothing is left to revert"


@pytest.mark.parametrize("text", ["", "[]", '{"id": 7}', "{" * 5000])
def test_a_journal_that_is_damaged_is_one_sentence(text: str, at: At) -> None:
    at.apply(planned("Turbo", "Disabled", "Enabled"))
    (at.folder / "set-1" / "n1.json").write_text(text, encoding="utf-8")
    with pytest.raises(Exception, match="journal of firmware changes"):
        revert_firmware([at.bmc], at.folder)


def test_without_a_journal_nothing_is_changed(board: Board, at: At) -> None:
    at.folder.parent.mkdir()
    at.folder.parent.chmod(0o777)
    done = at.apply(planned("Turbo", "Disabled", "Enabled"))
    assert "journal" in done.problem
    assert not board.patches


@pytest.mark.parametrize(
    ("at_write", "said", "pending"),
    [
        (1, "nothing was changed", None),
        (
            2,
            "its BIOS values were requested: `wireproof tune revert` withdraws the request",
            "Enabled",
        ),
        (3, "nothing was changed", "Enabled"),
        (4, "its pending values are restored", "Disabled"),
    ],
)
def test_a_disk_that_becomes_full_is_said_with_what_the_bmc_has_by_then(
    at_write: int,
    said: str,
    pending: str | None,
    board: Board,
    at: At,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    writes: list[Path] = []

    def written(path: Path, data: bytes) -> None:
        writes.append(path)
        if len(writes) == at_write:
            raise OSError(errno.ENOSPC, "No space left on device")
        replace_file(path, data)

    monkeypatch.setattr("wireproof.bmc.replace_file", written)
    done = at.apply(planned("Turbo", "Disabled", "Enabled"))
    if at_write > 2:
        assert not done.problem
        done = at.revert()
    assert done.problem.endswith(f"cannot be written (No space left on device): {said}.")
    assert board.pending.get("Turbo") == pending
    if pending is not None:
        assert states(at.revert()) == ["reverted"]
        assert board.pending["Turbo"] == "Disabled"


def test_the_last_set_is_reverted_first_though_the_clock_was_set_back(
    board: Board, at: At, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Earlier(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Earlier:
            return cls(1970, 1, 1, tzinfo=tz)

    at.apply(planned("Nps", 1, 2), name="one")
    monkeypatch.setattr("wireproof.tune.with_bios.datetime.datetime", Earlier)
    at.apply(planned("Nps", 1, 4, pending=2), name="after")
    for left in (2, 1):
        assert states(at.revert()) == ["reverted"]
        assert board.pending["Nps"] == left


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"XDG_STATE_HOME": "/s", "HOME": "/h"}, "/s/wireproof/firmware"),
        ({"XDG_STATE_HOME": "s", "HOME": "/h"}, "/h/.local/state/wireproof/firmware"),
        ({}, "/var/lib/wireproof/firmware"),
    ],
)
def test_the_journals_are_where_state_is_kept(environment: dict[str, str], folder: str) -> None:
    assert str(journals(environment)) == folder
