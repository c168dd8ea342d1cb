"""``wireproof tune`` as a user calls it, on a machine's files below a folder."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.audit.trees import lay_out
from tests.cli.verb import document, one_sentence, wireproof
from tests.tune.node import end_timers

pytestmark = pytest.mark.engine

SWAPPINESS = "proc/sys/vm/swappiness"
BALANCING = "proc/sys/kernel/numa_balancing"
SYSCTL = "etc/sysctl.d/90-wireproof.conf"
ASKED = ("swappiness", "numa-balancing")


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A machine with two wrong settings and a drop-in of an earlier set; no timer outlives it."""
    earlier = "# of the site\nvm.stat_interval = 10"
    wrong = {SWAPPINESS: "60", BALANCING: "1", SYSCTL: earlier}
    for folder in ("etc/tmpfiles.d", "etc/modprobe.d"):
        (tmp_path / "root" / folder).mkdir(parents=True)
    made = lay_out(tmp_path / "root", "haswell-hfi1", wrong)
    yield made
    end_timers(made)


def sums(root: Path) -> dict[str, str]:
    files = (path for path in root.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def places(root: Path) -> list[str]:
    return [f"--root={root}", f"--state={root.parent / 'state'}"]


def applied(root: Path, *asked: str) -> str:
    done = wireproof("tune", "apply", *asked, "--yes", "--json", *places(root))
    assert done.returncode == 0, done.stderr
    found = document(done)
    assert found["hosts"][0]["sets"][0]["state"] == "armed"
    assert f"wireproof tune confirm {found['id']}" in done.stderr
    return str(found["id"])


def test_a_plan_is_a_diff_with_file_value_reason_and_undo(root: Path) -> None:
    before = sums(root)
    done = wireproof("tune", "plan", *ASKED, f"--root={root}")
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    for words in (
        "by: /proc/sys/vm/swappiness",
        "change: 60 -> 10",
        f"/{SYSCTL} (written by tune confirm)",
        "gains: vm.swappiness = 10",
        "undo: the old value",
    ):
        assert words in text
    assert sums(root) == before


def test_apply_confirm_and_revert_bring_every_byte_back(root: Path) -> None:
    before = sums(root)
    name = applied(root, *ASKED)
    assert (root / SWAPPINESS).read_text() == "10\n"
    assert (root / BALANCING).read_text() == "0\n"
    shown = wireproof("tune", "status", *places(root)).stdout
    assert name in shown
    assert "reverts by itself in" in " ".join(shown.split())
    assert wireproof("tune", "confirm", name, *places(root)).returncode == 0
    assert (root / SYSCTL).read_text().splitlines() == [
        "# of the site",
        "vm.stat_interval = 10",
        "vm.swappiness = 10",
        "kernel.numa_balancing = 0",
    ]
    assert "no remnants" in wireproof("tune", "residue", *places(root)).stdout
    done = wireproof("tune", "revert", name, *places(root))
    assert done.returncode == 0, done.stdout + done.stderr
    assert sums(root) == before


def test_the_file_that_overrules_at_the_next_boot_is_named(root: Path) -> None:
    site = root / "etc/sysctl.d/99-site.conf"
    site.write_text("vm.swappiness = 60\n")
    line = "/etc/sysctl.d/99-site.conf"
    done = wireproof("tune", "plan", *ASKED, f"--root={root}")
    assert f"/proc/sys/vm/swappiness: {line} sets '60'" in " ".join(done.stdout.split())
    name = applied(root, *ASKED)
    text = " ".join(wireproof("tune", "verify", *places(root)).stdout.split())
    assert f"set {name} is applied and not confirmed" in text
    assert f"`wireproof tune confirm {name}` keeps it" in text
    done = wireproof("tune", "confirm", *places(root))
    assert done.returncode == 0, done.stderr
    assert f"{line} overrides /proc/sys/vm/swappiness" in " ".join(done.stdout.split())
    done = wireproof("tune", "verify", *places(root))
    assert done.returncode == 0
    assert f"{line} overrides /proc/sys/vm/swappiness" in " ".join(done.stdout.split())
    (root / SWAPPINESS).write_text("60\n")  # as after the boot
    done = wireproof("tune", "verify", *places(root))
    assert done.returncode == 1
    assert "1 of 3 confirmed changes not in force on" in done.stdout
    assert "not in force: 60 -> 10, reads 60" in done.stdout
    done = wireproof("tune", "status", *places(root))
    assert "not in force: 60 -> 10, reads 60" in done.stdout
    assert wireproof("tune", "revert", "--force", *places(root)).returncode == 0


def test_confirm_without_a_set_that_waits_is_bad_input(root: Path) -> None:
    done = wireproof("tune", "confirm", *places(root))
    assert done.returncode == 2
    assert "no change set is waiting" in one_sentence(done)


def test_a_second_set_waits_for_the_first(root: Path) -> None:
    name = applied(root, "swappiness")
    done = wireproof("tune", "apply", "numa-balancing", "--yes", *places(root))
    assert done.returncode == 4
    assert name in done.stdout
    assert (root / BALANCING).read_text() == "1\n"
    assert wireproof("tune", "revert", *places(root)).returncode == 0
    assert (root / SWAPPINESS).read_text() == "60\n"


def test_a_plan_whose_values_have_moved_is_refused(root: Path, tmp_path: Path) -> None:
    kept = tmp_path / "a-plan"
    assert wireproof("tune", "plan", *ASKED, f"--root={root}", "-o", kept).returncode == 0
    (root / SWAPPINESS).write_text("30\n")
    done = wireproof("tune", "apply", kept, "--yes", *places(root))
    assert done.returncode == 1
    text = " ".join(done.stdout.split())
    assert "swappiness was '60' when the plan was created and is now '30'" in text
    assert (root / SWAPPINESS).read_text() == "30\n"
    assert (root / BALANCING).read_text() == "1\n"


def test_a_value_of_ones_own_and_a_sysctl_outside_the_catalogue(root: Path) -> None:
    (root / "proc/sys/vm/dirty_bytes").write_text("0\n")
    (root / "proc/sys/vm/dirty_ratio").write_text("20\n")
    done = wireproof("tune", "plan", "vm.dirty_bytes=1000000", "--json", f"--root={root}")
    (planned,) = document(done)["hosts"][0]["changes"]
    assert planned["change"]["coupled"] == ["/proc/sys/vm/dirty_ratio"]
    applied(root, "swappiness=7", "vm.dirty_bytes=1000000")
    assert (root / SWAPPINESS).read_text() == "7\n"
    assert (root / "proc/sys/vm/dirty_bytes").read_text() == "1000000\n"


def test_values_of_others_are_left_alone_without_force(root: Path) -> None:
    applied(root, "swappiness")
    (root / SWAPPINESS).write_text("99\n")
    done = wireproof("tune", "revert", *places(root))
    assert done.returncode == 1
    assert "left" in done.stdout
    assert (root / SWAPPINESS).read_text() == "99\n"
    assert wireproof("tune", "revert", "--force", *places(root)).returncode == 0
    assert (root / SWAPPINESS).read_text() == "60\n"


def test_nobody_can_be_asked_without_a_terminal(root: Path) -> None:
    done = wireproof("tune", "apply", "swappiness", *places(root))
    assert done.returncode == 2
    assert "--yes" in one_sentence(done)
    assert (root / SWAPPINESS).read_text() == "60\n"


def test_a_dry_run_of_apply_is_the_plan_and_changes_nothing(root: Path) -> None:
    before = sums(root)
    done = wireproof("tune", "apply", *ASKED, "--dry-run", "--json", *places(root))
    assert done.returncode == 0, done.stderr
    assert document(done)["schema"] == "wireproof.tune-plan"
    assert sums(root) == before
    assert not (root.parent / "state").exists()


def test_a_set_that_no_host_has_is_a_wrong_name(root: Path) -> None:
    for what in ("status", "revert"):
        done = wireproof("tune", what, "none-such", "--json", *places(root))
        assert done.returncode == 2, what
        assert document(done)["hosts"][0]["problem"] == "there is no set none-such"


def test_nothing_to_change_is_no_failure(root: Path) -> None:
    done = wireproof("tune", "apply", "zone-reclaim", "--yes", *places(root))
    assert done.returncode == 0
    assert "nothing to change" in done.stdout


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("apply", "swapiness", "--yes"), "did you mean swappiness"),
        (("apply", "none.json", "--yes"), "cannot be read"),
        (("apply", "swappiness", "--from", "."), "--from is for tune plan"),
        (("confirm", "../x"), "not the ID of a change set"),
        (("plan", "/etc/passwd=1"), "not a file below"),
        (("plan", "vm.none_such=1"), "no host has the file /proc/sys/vm/none_such"),
        (("apply", "swappiness/eth0=1", "--yes"), "swappiness applies to the host as a whole"),
    ],
)
def test_bad_input_is_one_sentence(root: Path, argv: tuple[str, ...], said: str) -> None:
    done = wireproof("tune", *argv, f"--root={root}")
    assert done.returncode == 2
    assert said in one_sentence(done)


def test_a_plan_that_is_none(root: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "plan.json"
    for text in ("{", "[]", '{"schema":"x","version":1}', '{"hosts":[{"host":1}]}'):
        wrong.write_text(text)
        done = wireproof("tune", "apply", wrong, "--yes", *places(root))
        assert done.returncode == 2
        assert "plan" in one_sentence(done)


def test_a_plan_is_taken_as_it_stands_or_not_at_all(root: Path, tmp_path: Path) -> None:
    kept = tmp_path / "plan.json"
    assert wireproof("tune", "plan", *ASKED, f"--root={root}", "-o", kept).returncode == 0
    for more in (("--skip", "swappiness"), ("zone-reclaim",)):
        done = wireproof("tune", "apply", kept, *more, "--yes", *places(root))
        assert done.returncode == 2
        assert "is a finished plan" in one_sentence(done)
    assert (root / SWAPPINESS).read_text() == "60\n"


def test_a_plan_does_not_take_the_place_of_a_device_or_pipe(root: Path, tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for path in (pipe, link):
        done = wireproof("tune", "plan", "swappiness", f"--root={root}", "-o", path)
        assert done.returncode == 2
        assert "cannot be written" in one_sentence(done)
    assert pipe.is_fifo()
    assert link.is_symlink()


def test_a_plan_may_only_name_files_of_settings(root: Path, tmp_path: Path) -> None:
    kept = tmp_path / "plan.json"
    assert wireproof("tune", "plan", "swappiness", f"--root={root}", "-o", kept).returncode == 0
    plan = json.loads(kept.read_text())
    plan["hosts"][0]["changes"][0]["change"]["path"] = "/etc/shadow"
    kept.write_text(json.dumps(plan))
    done = wireproof("tune", "apply", kept, "--yes", *places(root))
    assert done.returncode == 2
    assert "not the file of a setting" in one_sentence(done)


def test_residue_names_what_no_journal_knows(root: Path) -> None:
    done = wireproof("tune", "residue", *places(root))
    assert done.returncode == 1
    assert f"/{SYSCTL}: it is not in any journal" in " ".join(done.stdout.split())


def test_a_plan_from_a_folder_of_files_changes_nothing(root: Path) -> None:
    before = sums(root)
    done = wireproof("tune", "plan", "--from", root, "--profile", "latency", "--json")
    assert done.returncode == 0, done.stderr
    found = document(done)
    assert found["schema"] == "wireproof.tune-plan"
    assert found["hosts"][0]["by_hand"]
    assert sums(root) == before


def test_of_two_at_once_one_wins_and_every_byte_comes_back(root: Path) -> None:
    before = sums(root)
    command = [sys.executable, "-m", "wireproof", "tune", "apply", "--yes", *places(root)]
    both = [
        subprocess.Popen([*command, name], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for name in ASKED
    ]
    statuses = sorted(one.wait(60) for one in both if one.communicate(timeout=60))
    assert statuses == [0, 4]
    changed = [(root / file).read_text() for file in (SWAPPINESS, BALANCING)]
    assert changed in (["10\n", "1\n"], ["60\n", "0\n"])
    assert wireproof("tune", "revert", *places(root)).returncode == 0
    assert sums(root) == before
