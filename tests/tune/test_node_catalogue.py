"""The node program takes every fix of the catalogue: none is outside of what it writes."""

import subprocess
from pathlib import Path

import pytest
from tests.processes import ran
from tests.tune.node import end_timers

from wireproof.audit.job import catalogue
from wireproof.audit.machine import Instance
from wireproof.audit.remedy import filled, remedy_with
from wireproof.launch.engines import find_program
from wireproof.model.tuning import Change, ChangeSet, Keep
from wireproof.tune.node import write_change_set
from wireproof.tune.settings_files import merged

pytestmark = pytest.mark.engine

ANY = Instance("policy0", {"nic": "eth0", "device": "mlx5_0", "port": "1"}, {})
FIXED = [one.setting for one in catalogue().entries.values() if one.setting.fix is not None]


def answered(wanted: ChangeSet, folder: Path) -> subprocess.CompletedProcess[str]:
    """On an empty machine: nothing can be changed, and everything is understood."""
    (folder / "root").mkdir(exist_ok=True)
    argv = [find_program("wireproof-node"), "tune", "apply"]
    places = ["--root", folder / "root", "--state", folder / "state"]
    return ran([*map(str, [*argv, *places])], input=write_change_set(wanted))


def changes_of(setting) -> list[Change]:
    fix = setting.fix
    read = setting.reads[0]
    place = filled(read.file, ANY).replace("*", "0")
    value = {"ptrace-scope": "1"}.get(setting.id, "4096")  # what is taken
    made = remedy_with(fix, ANY, place, value)
    if made.command:
        argv = tuple(filled(word, ANY) for word in read.command)
        return [
            Change(
                id=setting.id,
                value=value,
                kind="command",
                read=argv,
                section=read.section,
                key=read.key,
                write=made.command,
            )
        ]
    return [
        Change(id=setting.id, value=value, path=made.file.replace("*", "0"), coupled=made.coupled)
    ]


@pytest.mark.parametrize(
    "setting", [one for one in FIXED if one.fix.at_once], ids=lambda one: one.id
)
def test_each_change_is_understood(setting, tmp_path):
    wanted = ChangeSet(id="s", by="test", changes=tuple(changes_of(setting)))
    done = answered(wanted, tmp_path)
    assert done.returncode in (1, 4), done.stderr


def test_each_drop_in_is_understood(tmp_path):
    keeps: dict[str, list[str]] = {}
    for one in FIXED:
        place = filled(one.reads[0].file, ANY) if one.reads else ""
        if line := remedy_with(one.fix, ANY, place, "4096").line:
            keeps.setdefault(one.fix.persist, []).append(line)
    assert len(keeps) >= 5
    texts = [Keep(path=path, text=merged(path, None, lines)) for path, lines in keeps.items()]
    done = answered(ChangeSet(id="s", by="test", changes=(), keeps=tuple(texts)), tmp_path)
    end_timers(tmp_path / "root")
    assert done.returncode != 2, done.stderr
