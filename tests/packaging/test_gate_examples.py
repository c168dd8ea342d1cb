"""The examples of gates: what they call exists, and what their comments promise holds. slurmd runs
two of them in tests/slurm/test_slurm_gate.py.
"""

import ast
import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from wireproof.cli.judge import gate
from wireproof.report.gate import DIALECTS

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
GATES = EXAMPLES / "gates"
OPTIONS = {name for one in gate.params for name in one.opts if name.startswith("--")}


def loaded(name: str) -> Any:
    return yaml.safe_load((EXAMPLES / name).read_text(encoding="utf-8"))


def gate_words() -> Iterator[tuple[str, list[str]]]:
    """Every call of the gate in the examples, with what follows the word."""
    for file in sorted(EXAMPLES.rglob("*")):
        if not file.is_file() or file.suffix in (".html", ".out"):
            continue
        text = file.read_text(encoding="utf-8").replace("\\\n", " ")
        for found in re.finditer(r'(?:wireproof|"\$WIREPROOF") gate ([^\n#]*)', text):
            yield (
                str(file.relative_to(EXAMPLES)),
                shlex.split(re.split(r"[|>]|2>", found[1])[0].rstrip('"]) ')),
            )
    tasks = loaded("ansible/roles/wireproof/tasks/main.yml")
    yield from (
        ("ansible", argv[2:])
        for argv in (task.get("ansible.builtin.command", {}).get("argv", []) for task in tasks)
        if "gate" in argv
    )
    (container,) = loaded("kubernetes/gate.yaml")["spec"]["template"]["spec"]["containers"]
    yield "kubernetes", container["command"][2:]
    (rule,) = json.loads((GATES / "node-problem-detector.json").read_text())["rules"]
    yield "node-problem-detector", rule["args"][1:]


def test_every_example_calls_the_gate_with_options_that_there_are() -> None:
    calls = list(gate_words())
    assert {name.split("/")[0] for name, _ in calls} >= {
        "ansible",
        "ci",
        "gates",
        "kubernetes",
        "node-problem-detector",
        "reframe",
    }
    for name, words in calls:
        options = [word for word in words if word.startswith("--")]
        assert set(options) <= OPTIONS, (name, options)
        assert not words[0].startswith("-"), name
        if "--dialect" in words:
            assert words[words.index("--dialect") + 1] in DIALECTS, name


# --- Slurm

ANSWERS = {
    "pass": ("wireproof pass: n1: 12 results pass", 0),
    "fail": ("wireproof fail: n1: n1 sends slowly; $(touch /tmp/x)", 1),
    "undecided": ("wireproof inconclusive: n1: no result", 3),
    "a broken installation": ("", 1),
    "a traceback": ("Traceback (most recent call last):", 1),
    "a bug of ours": ("", 70),
    "nothing there": ("", 127),
    "a pass that failed": ("wireproof pass: n1: 12 results pass", 4),
    "a status without a line": ("", 0),
}


def prolog(folder: Path, line: str, status: int, refuse: str) -> int:
    program = folder / "wireproof"
    program.write_text(f"#!/bin/sh\nprintf '%s\\n' {shlex.quote(line)}\nexit {status}\n")
    program.chmod(0o755)
    text = (GATES / "prolog.sh").read_text(encoding="utf-8")
    for old, new in (
        ('\nREFUSE=""\n', f'\nREFUSE="{refuse}"\n'),
        ("/opt/wireproof/bin/wireproof", str(program)),
        ("logger -t", "true -t"),
    ):
        assert old in text
        text = text.replace(old, new)
    done = subprocess.run(["sh", "-c", text], env={}, capture_output=True, check=False, timeout=30)
    return done.returncode


@pytest.mark.parametrize("name", ANSWERS)
def test_the_prolog_refuses_what_the_site_says_and_nothing_else(tmp_path: Path, name: str) -> None:
    line, status = ANSWERS[name]
    assert prolog(tmp_path, line, status, "") == 0
    assert prolog(tmp_path, line, status, "fail") == int(name == "fail")
    assert prolog(tmp_path, line, status, "fail undecided") == int(name != "pass")


@pytest.mark.parametrize("file", sorted(GATES.glob("*.sh")), ids=lambda file: file.name)
def test_the_scripts_are_sh(file: Path) -> None:
    assert subprocess.run(["sh", "-n", file], check=False).returncode == 0


# --- the others


def test_node_health_check_sees_one_line_and_more_time_than_ours() -> None:
    lines = [
        line
        for line in (GATES / "nhc.conf").read_text(encoding="utf-8").splitlines()
        if line.strip() and not line.startswith("#")
    ]
    (line,) = lines
    words = shlex.split(line.partition("||")[2])
    assert words[0] == "check_cmd_output"
    within = float(words[words.index("--within") + 1].removesuffix("s"))
    assert within < float(words[words.index("-t") + 1]) <= 30
    assert words[words.index("-m") + 1] == "!ERROR*"


def test_node_problem_detector() -> None:
    """Its own rules: a permanent rule's condition is declared, its time is not above the whole."""
    found = json.loads((GATES / "node-problem-detector.json").read_text(encoding="utf-8"))
    whole = found["pluginConfig"]
    assert whole["max_output_length"] == 80
    # else the condition is "no problem" from the start until the first answer
    assert whole["skip_initial_status"] is True
    (rule,) = found["rules"]
    assert rule["type"] == "permanent"
    assert rule["condition"] in {one["type"] for one in found["conditions"]}
    seconds = [float(text.removesuffix("s")) for text in (rule["timeout"], whole["timeout"])]
    assert 20 < seconds[0] <= seconds[1]
    assert rule["args"][-2:] == ["--dialect", "npd"]


def test_prometheus_rules_name_metrics_that_there_are() -> None:
    rules = loaded("gates/prometheus-rules.yml")["groups"][0]["rules"]
    named = set(re.findall(r"wireproof_\w+", " ".join(rule["expr"] for rule in rules)))
    assert named == {
        "wireproof_verdict",
        "wireproof_node_verdict",
        "wireproof_result_time_seconds",
        "wireproof_result_max_age_seconds",
    }


def test_the_kubernetes_job_changes_nothing_and_ends() -> None:
    """Checked once against the schema of batch/v1 (kubernetes-validate 1.37, strict)."""
    job = loaded("kubernetes/gate.yaml")
    assert (job["apiVersion"], job["kind"]) == ("batch/v1", "Job")
    assert job["spec"]["activeDeadlineSeconds"] <= 60
    pod = job["spec"]["template"]["spec"]
    assert pod["restartPolicy"] == "Never"
    (container,) = pod["containers"]
    rights = container["securityContext"]
    assert rights["allowPrivilegeEscalation"] is False
    assert rights["runAsNonRoot"] is True
    mounts = {one["name"]: one for one in container["volumeMounts"]}
    assert mounts["results"]["readOnly"] is True
    assert {one["name"] for one in pod["volumes"]} == set(mounts)


def test_the_ansible_role_takes_no_rights_and_says_what_it_changes() -> None:
    """Run by hand with ansible-core: the second run changes nothing."""
    tasks = loaded("ansible/roles/wireproof/tasks/main.yml")
    defaults = loaded("ansible/roles/wireproof/defaults/main.yml")
    text = (EXAMPLES / "ansible/roles/wireproof/tasks/main.yml").read_text(encoding="utf-8")
    assert "become" not in text
    used = set(re.findall(r"wireproof_\w+", text))
    registered = {task["register"] for task in tasks if "register" in task}
    own = {name for task in tasks for name in task.get("vars", {})}
    assert used <= set(defaults) | registered | own
    for task in tasks:
        if "ansible.builtin.command" in task:
            creates = "creates" in task["ansible.builtin.command"]
            assert creates or "changed_when" in task, task["name"]


def test_the_reframe_test_clears_what_an_earlier_run_has_left() -> None:
    """Run by hand with ReFrame 4.10: what is undecided fails, with the gate's reason."""
    text = (EXAMPLES / "reframe/wireproof_check.py").read_text(encoding="utf-8")
    names = {one.name for one in ast.walk(ast.parse(text)) if isinstance(one, ast.FunctionDef)}
    assert {"proven", "start_it_once"} <= names
    assert 'prerun_cmds = ["rm -rf result gate.json"]' in text


def test_ci_makes_its_report_also_when_the_check_ends_badly() -> None:
    script = loaded("ci/gitlab-ci.yml")["fabric"]["script"]
    assert script[0] == "rm -rf result"
    assert script[1].endswith("|| true")
    assert script[2].startswith("wireproof gate result")
    for line in script:
        assert line in (EXAMPLES / "ci/Jenkinsfile").read_text(encoding="utf-8")
