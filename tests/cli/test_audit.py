"""``wireproof audit`` as a user calls it."""

import json
from pathlib import Path

import pytest
from tests.audit.trees import lay_out
from tests.cli.verb import wireproof

pytestmark = pytest.mark.engine


def test_this_machine_is_answered(tmp_path: Path) -> None:
    done = wireproof("audit", "--json")
    assert done.returncode in (0, 1, 3), done.stderr
    found = json.loads(done.stdout)
    assert found["schema"] == "wireproof.audit"
    assert {"pass", "not-applicable"} <= {one["status"] for one in found["results"]}
    assert not found["skipped"]


def test_a_wrong_setting_fails_with_its_fix_and_its_undo(tmp_path: Path) -> None:
    root = lay_out(tmp_path, "haswell-hfi1")
    done = wireproof("audit", "cpu-governor", "--from", root)
    assert done.returncode == 1
    text = " ".join(done.stdout.split())
    assert "FAIL cpu-governor" in text
    assert "write performance to /sys/devices/system/cpu/cpufreq/policy0/scaling_governor" in text
    assert "undo: the old value" in text


def test_the_profile_decides_where_authorities_disagree(tmp_path: Path) -> None:
    root = lay_out(tmp_path, "haswell-hfi1")
    assert wireproof("audit", "scaling-driver", "--from", root).returncode == 0
    again = wireproof("audit", "scaling-driver", "--from", root, "--profile", "repeatability")
    assert again.returncode == 1


def test_the_command_that_mends_has_the_profile_that_it_was_judged_by(tmp_path: Path) -> None:
    idle = "sys/devices/system/cpu/cpu0/cpuidle/state3"
    root = lay_out(tmp_path, "haswell-hfi1", {f"{idle}/disable": "0", f"{idle}/latency": "133"})
    words = ("idle-states", "--from", root, "--profile", "latency")
    (found,) = json.loads(wireproof("audit", *words, "--json").stdout)["results"]
    assert found["fix"].startswith("`wireproof tune apply idle-states --profile latency`: ")
    assert json.loads(wireproof("tune", "plan", *words, "--json").stdout)["hosts"][0]["changes"]


def test_a_group_is_explained_as_the_appendix_of_the_document_lists_it() -> None:
    done = wireproof("audit", "--explain", "hfi1")
    assert done.returncode == 0
    for word in ("krcvqs", "rcvhdrcnt", "default", "range", "should be"):
        assert word in done.stdout


@pytest.mark.mpi
def test_a_check_tells_of_the_settings_of_its_hosts(tmp_path: Path) -> None:
    done = wireproof("check", "--json", "--out", tmp_path / "run", "--budget", "20ms")
    first = json.loads(done.stdout)["parts"][0]
    assert first["settings"]["schema"] == "wireproof.audit"
    assert {one["id"] for one in first["settings"]["results"]} >= {"clock-source", "limit-memlock"}
    assert "wrong for the fabric" in (tmp_path / "run" / "report.html").read_text("utf-8")
