"""``wireproof tune`` of a BIOS attribute against sushy-tools' emulator: as a user starts it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.audit.trees import lay_out
from tests.bmc.certificate import Certificate
from tests.bmc.emulator import PASSWORD, Emulator, emulated
from tests.cli.verb import document, one_sentence, wireproof

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def emulator(
    tmp_path_factory: pytest.TempPathFactory, certificate: Certificate
) -> Iterator[Emulator]:
    with emulated(tmp_path_factory.mktemp("emulator"), certificate) as bmc:
        yield bmc


class Site:
    """The commands of a person who tunes this machine's BIOS."""

    def __init__(self, folder: Path, emulator: Emulator, certificate: Certificate) -> None:
        self.folder, self.environment = folder, {"XDG_STATE_HOME": str(folder / "state")}
        self.root = lay_out(folder / "root", "haswell-hfi1")
        password = folder / "password"
        password.write_text(PASSWORD + "\n", encoding="utf-8")
        password.chmod(0o600)
        self.bmc = ("--bmc", emulator.address, "--bmc-user", "admin")
        self.bmc += ("--bmc-password-file", str(password), "--bmc-ca", str(certificate.file))

    def tune(self, *words: object, bmc: bool = True) -> Any:
        more = ("--root", self.root, *(("--state", "/tune") if words[0] != "plan" else ()))
        given = (*words, *more, *(self.bmc if bmc else ()))
        return wireproof("tune", *given, environment=self.environment)

    def changes(self, *words: object) -> list[tuple[str, str, str]]:
        done = self.tune(*words, "--json")
        assert done.returncode == 0, done.stderr + done.stdout
        return [
            (each["id"], each["state"], each["reason"])
            for one in document(done)["hosts"]
            for each in one["changes"]
        ]


@pytest.fixture
def site(tmp_path: Path, emulator: Emulator, certificate: Certificate) -> Site:
    emulator.pending, emulator.now["ProcTurboMode"] = {}, "Disabled"
    emulator.requests.clear()
    return Site(tmp_path, emulator, certificate)


def test_an_attribute_is_planned_asked_for_pending_and_taken_back(
    site: Site, emulator: Emulator
) -> None:
    shown = site.tune("plan", "bios-turbo")
    assert "Turbo Boost (ProcTurboMode)" in shown.stdout
    assert "Disabled -> Enabled" in shown.stdout
    assert emulator.pending == {}, "a plan changes nothing"
    ((name, state, reason),) = site.changes("apply", "bios-turbo", "--yes")
    assert (name, state) == ("bios-turbo", "applied")
    assert "takes effect after a reboot" in reason
    assert (emulator.pending, emulator.now["ProcTurboMode"]) == (
        {"ProcTurboMode": "Enabled"},
        "Disabled",
    )
    assert "after a reboot" in site.changes("status")[0][2]
    assert [state for _, state, _ in site.changes("revert")] == ["reverted"]
    assert emulator.pending == {"ProcTurboMode": "Disabled"}
    assert {method for method, _, _ in emulator.requests} == {"GET", "PATCH"}, "no reset"
    journal = "".join(
        path.read_text(encoding="utf-8") for path in site.folder.rglob("*.json") if path.is_file()
    )
    assert "ProcTurboMode" in journal
    assert PASSWORD not in journal + shown.stdout + shown.stderr


def test_a_plan_of_a_file_is_carried_out_and_an_old_one_is_not(
    site: Site, emulator: Emulator
) -> None:
    plan = site.folder / "plan.json"
    assert site.tune("plan", "bios-turbo", "-o", plan).returncode == 0
    assert PASSWORD not in plan.read_text(encoding="utf-8")
    assert [state for _, state, _ in site.changes("apply", plan, "--yes")] == ["applied"]
    emulator.pending["ProcTurboMode"] = "Disabled"
    emulator.now["ProcTurboMode"] = "Enabled"
    done = site.tune("apply", plan, "--yes")
    assert done.returncode == 1
    assert "has changed since the plan was made" in " ".join(done.stdout.split())


def test_without_the_bmc_it_is_said_what_is_pending(site: Site, emulator: Emulator) -> None:
    site.changes("apply", "bios-turbo=Enabled", "--yes")
    done = site.tune("revert", bmc=False)
    assert done.returncode == 1
    assert "give --bmc to withdraw them" in " ".join(done.stdout.split())
    assert emulator.pending == {"ProcTurboMode": "Enabled"}
    assert "is pending or in effect" in " ".join(site.tune("status", bmc=False).stdout.split())


def test_a_value_that_the_bmc_does_not_list_is_not_asked_for(
    site: Site, emulator: Emulator
) -> None:
    done = site.tune("plan", "bios-turbo=Fast", "--json")
    (host,) = document(done)["hosts"]
    assert host["firmware"] == []
    assert "Enabled, Disabled" in " ".join(host["notes"])


def test_a_plan_without_its_bmc_is_one_sentence(site: Site) -> None:
    plan = site.folder / "plan.json"
    site.tune("plan", "bios-turbo", "-o", plan)
    done = site.tune("apply", plan, "--yes", bmc=False)
    assert done.returncode == 1
    assert "give --bmc" in " ".join(done.stdout.split())


@pytest.mark.parametrize("value", [None, [], {"a": 1}])
def test_a_plan_with_a_value_that_is_none_is_refused(value: Any, site: Site) -> None:
    plan = site.folder / "plan.json"
    site.tune("plan", "bios-turbo", "-o", plan)
    made = json.loads(plan.read_text(encoding="utf-8"))
    made["hosts"][0]["firmware"][0]["wanted"] = value
    plan.write_text(json.dumps(made), encoding="utf-8")
    done = site.tune("apply", plan, "--yes")
    assert done.returncode == 2
    assert "not a plan of" in one_sentence(done)
