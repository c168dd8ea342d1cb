"""``wireproof judge`` of PSM3's statistics files, as users give them."""

import shutil
from pathlib import Path

from tests.cli.test_judge import GOLDEN, OSU, document, judge

PSM3 = GOLDEN / "psm3"


def test_a_folder_of_one_job_is_one_verdict() -> None:
    status, found = document(str(PSM3 / "two-rails"), "--link", "10gbe")
    assert status == 0
    (job,) = found["statistics"]
    assert (job["verdict"], job["ranks"], job["wanted_ranks"]) == ("pass", 2, 2)
    assert [nic["name"] for nic in job["hosts"][0]["nics"]] == ["eth0", "hsn0"]


def test_shared_memory_fails_a_claimed_wire_and_no_secret_is_printed() -> None:
    done = judge(str(PSM3 / "one-host"), "--link", "10gbe")
    assert done.returncode == 1
    assert b"psm-shared-memory" in done.stdout
    for secret in (b"secret", b"hunter2", b"s3cr3t"):
        assert secret not in done.stdout + done.stderr


def test_logs_help_and_statistics_in_one_command(tmp_path: Path) -> None:
    """The library writes an explanation beside the files: a shell's pattern takes it too."""
    for path in (PSM3 / "two-hosts").iterdir():
        shutil.copy(path, tmp_path)
    (tmp_path / "psm3-perf-stat-help-n1-pid-9").write_text("Job_information, Mask 0x40:\n  x\n")
    (tmp_path / "osu.log").write_text(OSU + "8 12.5\n1024 15.0\n")
    status, found = document(str(tmp_path))
    assert (len(found["series"]), len(found["statistics"]), found["errors"]) == (1, 1, [])
    assert status in (0, 3)
    done = judge(str(tmp_path))
    assert b"explains PSM3's counters but contains none" in done.stderr
    assert b"2 series or jobs in 4 files" in done.stdout


def test_a_torn_file_is_named_and_the_other_still_judged(tmp_path: Path) -> None:
    for path in (PSM3 / "two-hosts").iterdir():
        shutil.copy(path, tmp_path)
    torn = tmp_path / "psm3-perf-stat-n1-pid-10"
    torn.write_bytes(torn.read_bytes().replace(b"    scb_free 8015 (8015)", b"    scb_free 80"))
    status, found = document(str(tmp_path))
    assert status == 2
    assert "psm3-perf-stat-n1-pid-10: line " in found["errors"][0]["message"]
    (job,) = found["statistics"]
    assert {one["code"] for one in job["findings"]} == {"psm-ranks-missing"}
    assert job["verdict"] == "inconclusive"


def test_jobs_are_told_apart_by_their_keys(tmp_path: Path) -> None:
    """Two runs of one job script in one folder have the same ranks."""
    for path in (PSM3 / "two-hosts").iterdir():
        shutil.copy(path, tmp_path)
        again = path.read_bytes().replace(b"UUID=0d000000", b"UUID=0d000001")
        (tmp_path / path.name.replace("-pid-", "-pid-1")).write_bytes(again)
    _, found = document(str(tmp_path))
    assert [job["verdict"] for job in found["statistics"]] == ["pass", "pass"]
