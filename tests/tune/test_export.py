"""A plan as files of other tools: each is read by that tool's own rules, or run."""

import base64
import configparser
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.processes import ran

from wireproof.model.errors import BadInput
from wireproof.model.tuning import (
    ByHand,
    Change,
    HostPlan,
    Keep,
    PlannedChange,
    PlannedKeep,
    TunePlan,
)
from wireproof.tune.plan import export

RINGS = Change(
    id="ring-rx/eth0",
    kind="command",
    value="4096",
    read=("ethtool", "-g", "eth0"),
    section="Current hardware settings",
    key="RX",
    write=("ethtool", "-G", "eth0", "rx", "{value}"),
)
HOSTILE = 'it\'s $(touch x) `touch y` %n \\ "q"'
ETHTOOL = """#!/bin/sh
state=$(dirname "$0")/ring
case $1 in
  -g) printf 'Pre-set maximums:\\nRX:\\t8192\\nCurrent hardware settings:\\nRX:\\t%s\\nTX:\\t1\\n' \
    "$(cat "$state")" ;;
  -G) echo "$4" > "$state" ;;
esac
"""


def planned(*changes: Change, keeps: tuple[Keep, ...] = (), host: str = "n1") -> TunePlan:
    made = [PlannedChange(change=one, was="1", why="w", undo="u") for one in changes]
    kept = [PlannedKeep(keep=one, was=None) for one in keeps]
    by_hand = [ByHand(id="smt", how='grubby --args="nosmt"\nrm -rf /', why="w")]
    return TunePlan(
        made="2026-01-01T00:00:00Z",
        hosts=[HostPlan(host=host, changes=made, keeps=kept, by_hand=by_hand)],
    )


def text_of(plan: TunePlan, form: str) -> str:
    ((_, text),) = export(plan, form).items()
    return text


def sh(script: Path, what: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": f"{folder}:/usr/bin:/bin", "OLD": str(folder / "old")}
    return ran(["sh", str(script), what], env=environment)


def test_the_shell_script_applies_and_undoes_every_byte(tmp_path: Path) -> None:
    first, second, odd = tmp_path / "a b", tmp_path / "c'd", tmp_path / "ratio"
    new, old = tmp_path / "90-wireproof.conf", tmp_path / "91-wireproof.conf"
    texts = {first: "7\n", second: "4096\t8\n", odd: "20\n", old: "# mine\nx = 1\n"}
    for path, text in texts.items():
        path.write_text(text)
    (tmp_path / "ring").write_text("512\n")
    (tmp_path / "ethtool").write_text(ETHTOOL)
    (tmp_path / "ethtool").chmod(0o755)
    plan = planned(
        Change(id="a", value="9", path=str(first), coupled=(str(odd),)),
        Change(id="b", value=HOSTILE, path=str(second)),
        RINGS,
        keeps=(Keep(path=str(new), text="a = 1\n"), Keep(path=str(old), text="x = 2\ny = 3\n")),
    )
    script = tmp_path / "script"
    script.write_text(text_of(plan, "shell"))
    assert sh(script, "", tmp_path).returncode == 2
    for _ in range(2):  # applied twice, the oldest values are those that come back
        done = sh(script, "apply", tmp_path)
        assert done.returncode == 0, done.stderr
    assert first.read_text() == "9\n"
    assert second.read_text() == f"{HOSTILE}\n"
    assert (tmp_path / "ring").read_text() == "4096\n"
    assert old.read_text() == "x = 2\ny = 3\n"
    odd.write_text("0\n")  # what the kernel does to a coupled file
    done = sh(script, "undo", tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path: path.read_text() for path in texts} == texts
    assert (tmp_path / "ring").read_text() == "512\n"
    assert not new.exists()
    assert not {"x", "y"} & {path.name for path in tmp_path.iterdir()}


def test_the_shell_script_brackets_nothing_back(tmp_path: Path) -> None:
    file = tmp_path / "enabled"
    file.write_text("always [madvise] never\n")
    script = tmp_path / "script"
    change = Change(id="thp", value="never", path=str(file), form="choice")
    script.write_text(text_of(planned(change), "shell"))
    assert sh(script, "apply", tmp_path).returncode == 0
    assert sh(script, "undo", tmp_path).returncode == 0
    assert file.read_text() == "madvise\n"  # the kernel makes the bracketed list of it


def test_the_shell_script_says_what_it_could_not_write(tmp_path: Path) -> None:
    plan = planned(Change(id="a", value="9", path=str(tmp_path / "none" / "a")))
    script = tmp_path / "script"
    script.write_text(text_of(plan, "shell"))
    done = sh(script, "apply", tmp_path)
    assert done.returncode == 1
    assert "not written" in done.stderr


@pytest.mark.parametrize("shell", ["sh", "dash", "bash", "busybox"])
def test_the_shell_script_is_of_every_shell(tmp_path: Path, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not on PATH")
    script = tmp_path / "script"
    script.write_text(text_of(planned(RINGS), "shell"))
    argv = [shell, *(["sh"] if shell == "busybox" else []), "-n", str(script)]
    assert subprocess.run(argv, check=False).returncode == 0


def test_the_playbook_reads_and_writes_where_it_differs() -> None:
    yaml = pytest.importorskip("yaml")
    jinja2 = pytest.importorskip("jinja2")
    keep = Keep(path="/etc/sysctl.d/90-wireproof.conf", text="# a: b\n'x' = 1\n")
    plain = Change(id="rmem", value="4096 8 9", path="/proc/sys/net/ipv4/tcp_rmem")
    choice = Change(id="thp", value="madvise", path="/sys/x", form="choice")
    (play,) = yaml.safe_load(text_of(planned(plain, choice, RINGS, keeps=(keep,)), "ansible"))
    assert play["hosts"] == "n1"
    tasks = play["tasks"]
    assert [
        next(iter(set(task) - {"name", "register", "when", "changed_when", "check_mode"}))
        for task in tasks
    ] == [
        "ansible.builtin.slurp",
        "ansible.builtin.command",
        "ansible.builtin.slurp",
        "ansible.builtin.command",
        "ansible.builtin.command",
        "ansible.builtin.command",
        "ansible.builtin.copy",
    ]
    written = tasks[1]["ansible.builtin.command"]
    assert written == {"argv": ["tee", plain.path], "stdin": "4096 8 9"}
    assert tasks[4]["ansible.builtin.command"]["argv"] == ["ethtool", "-g", "eth0"]
    assert tasks[4]["changed_when"] is False
    assert tasks[5]["ansible.builtin.command"]["argv"] == ["ethtool", "-G", "eth0", "rx", "4096"]
    assert tasks[6]["ansible.builtin.copy"]["content"] == keep.text

    environment = jinja2.Environment(autoescape=True)
    environment.filters["b64decode"] = lambda text: base64.b64decode(text).decode()

    def needed(task: int, register: str, text: str) -> bool:
        found = {register: {"content": base64.b64encode(text.encode()).decode()}}
        return bool(environment.compile_expression(tasks[task]["when"])(**found))

    assert not needed(1, "before_0", "4096\t8\t9\n")
    assert needed(1, "before_0", "4096\t8\t10\n")
    assert not needed(3, "before_1", "always [madvise] never\n")
    assert needed(3, "before_1", "[always] madvise never\n")


def regex_search(text: str, pattern: str, group: str) -> list[str] | None:
    """As `ansible.builtin.regex_search` with one group."""
    found = re.search(pattern, text)
    return [found[int(group[1:])]] if found else None


@pytest.mark.parametrize(
    ("printed", "needed"),
    [
        ("Pre-set maximums:\nRX:\t8192\nCurrent hardware settings:\nRX:\t\t4096\nTX:\t1\n", False),
        ("Pre-set maximums:\nRX:\t4096\nCurrent hardware settings:\nRX:\t\t512\nTX:\t1\n", True),
        ("Current hardware settings:\nRX:\t4096\nRX Mini:\tn/a\nTX:\t512\n", False),
        ("Current hardware settings:\nRX:\t40960\n", True),
        ("netlink error: No such device\n", True),
    ],
)
def test_a_playbook_that_runs_twice_writes_once(printed: str, needed: bool) -> None:
    yaml = pytest.importorskip("yaml")
    jinja2 = pytest.importorskip("jinja2")
    (play,) = yaml.safe_load(text_of(planned(RINGS), "ansible"))
    environment = jinja2.Environment(autoescape=True)
    environment.filters["regex_search"] = regex_search
    when = environment.compile_expression(play["tasks"][1]["when"])
    assert bool(when(before_0={"stdout": printed})) is needed


@pytest.mark.parametrize("value", ["{{ lookup('pipe','id') }}", "{% x %}", "{#"])
def test_a_value_that_is_a_template_is_refused(value: str) -> None:
    with pytest.raises(BadInput, match="template"):
        export(planned(Change(id="a", value=value, path="/sys/x")), "ansible")


@pytest.mark.parametrize("host", ["all:!n1", "n*", "~n", "my tree"])
def test_a_host_that_is_a_pattern_is_refused(host: str) -> None:
    with pytest.raises(BadInput, match="is not a host name that Ansible"):
        export(planned(Change(id="a", value="1", path="/sys/x"), host=host), "ansible")


def test_a_value_that_tuned_would_expand_is_left_out() -> None:
    text = text_of(planned(Change(id="a", value="${f:exec:id}", path="/sys/x")), "tuned")
    assert [line for line in text.splitlines() if "exec" in line] == [
        "# not possible in this form: a = ${f:exec:id}"
    ]


def test_scripts_of_two_plans_keep_their_old_values_apart() -> None:
    one, two = (
        text_of(planned(Change(id=name, value="1", path=f"/sys/{name}")), "shell") for name in "ab"
    )
    kept = {line for text in (one, two) for line in text.splitlines() if line.startswith("OLD=")}
    assert len(kept) == 2
    assert all(line.startswith("OLD=${OLD:-/var/lib/wireproof/exported/") for line in kept)


def test_the_tuned_profile_has_the_sections_of_its_plugins() -> None:
    plan = planned(
        Change(id="sw", value="10", path="/proc/sys/vm/swappiness"),
        Change(id="vlan", value="2", path="/proc/sys/net/ipv4/conf/eth0.7/rp_filter"),
        Change(id="thp", value="never", path="/sys/kernel/mm/transparent_hugepage/enabled"),
        RINGS,
        Change(
            id="tc", kind="command", value="1", read=("tc",), key="k", write=("tc", "x", "{value}")
        ),
    )
    text = text_of(plan, "tuned")
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string(text)
    assert dict(parser["sysctl"]) == {"vm.swappiness": "10", "net/ipv4/conf/eth0.7/rp_filter": "2"}
    assert dict(parser["sysfs"]) == {"/sys/kernel/mm/transparent_hugepage/enabled": "never"}
    assert dict(parser["net_eth0"]) == {"type": "net", "devices": "eth0", "ring": "rx 4096"}
    assert "# not possible in this form: tc = 1" in text
    assert "\nrm -rf /" not in text


def test_the_lines_of_tmpfiles() -> None:
    lines = text_of(
        planned(Change(id="a", value="50%", path="/sys/x"), RINGS), "tmpfiles"
    ).splitlines()
    assert "w /sys/x - - - - 50%%" in lines
    assert "# not possible in this form: ring-rx/eth0 = 4096" in lines
    assert all(line.startswith(("#", "w ")) for line in lines)


def test_hosts_with_different_plans_are_one_playbook_and_no_script() -> None:
    yaml = pytest.importorskip("yaml")
    one = planned(Change(id="a", value="1", path="/sys/x"))
    other = planned(Change(id="a", value="2", path="/sys/x"), host="n2")
    both = TunePlan(hosts=[*one.hosts, *other.hosts, HostPlan(host="n3")])
    plays = yaml.safe_load(text_of(both, "ansible"))
    assert [play["hosts"] for play in plays] == ["n1", "n2"]
    with pytest.raises(BadInput, match="2 different plans"):
        export(both, "shell")
    with pytest.raises(BadInput, match="nothing to export"):
        export(TunePlan(hosts=[HostPlan(host="n3")]), "shell")
