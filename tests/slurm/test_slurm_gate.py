"""The examples of a prolog and of a HealthCheckProgram, run by a real slurmd."""

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.gate_results import NOW, stored
from tests.slurm.labs import Cluster, cluster, drain, undrain

from wireproof.lab.slurm import Partition
from wireproof.model.errors import LabError
from wireproof.store.result import RESULT

pytestmark = [pytest.mark.slurm, pytest.mark.slow]
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "gates"
SLEEPS = "/bin/sleep 100\n"


class Site:
    """A Slurm of two nodes with the examples in it."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.slurm, self.folder = cluster.slurm, folder
        self.results = folder / "results"
        self.program = folder / "wireproof"
        self.started = folder / "started"
        self.installed(f"exec {sys.executable} -m wireproof")
        self.conf = self.slurm.conf.read_text()

    def installed(self, command: str) -> None:
        """slurmd gives no variables to what it starts."""
        path = os.pathsep.join(one for one in sys.path if one)
        self.program.write_text(
            f"#!/bin/sh\n/usr/bin/env >>{self.started}\nPYTHONPATH={path}\nexport PYTHONPATH\n"
            f'{command} "$@"\n'
        )
        self.program.chmod(0o755)

    def use(self, name: str, line: str, *more: str, patience_s: int = 30) -> None:
        """slurm.conf with the example, its own first setting replaced by ``line``."""
        text = (EXAMPLES / name).read_text()
        variable = line.partition("=")[0]
        assert f'\n{variable}=""\n' in text
        text = text.replace(f'\n{variable}=""\n', f"\n{line}\n")
        for old, new in (
            ("/var/spool/wireproof", self.results),
            ("/opt/wireproof/bin/wireproof", self.program),
            ("timeout -k 2 30", f"timeout -k 1 {patience_s}"),
            (
                "PATH=/usr/bin:/bin\n",
                f"PATH=/usr/bin:/bin\nSLURM_CONF={self.slurm.conf}\nexport SLURM_CONF\n",
            ),
        ):
            assert old in text
            text = text.replace(old, str(new))
        script = self.folder / name
        script.write_text(text)
        script.chmod(0o755)
        self.slurm.conf.write_text("\n".join([self.conf, *more, ""]).format(script=script))
        assert self.slurm.run(["scontrol", "reconfigure"]).returncode == 0

    def job(self, node: str) -> int:
        """The status of a job on the node; one that does not start is cancelled."""
        words = ["srun", "--immediate=8", "-w", node, "-N1", "/bin/true"]
        return self.slurm.run(words, timeout_s=25).returncode

    def reason(self, node: str) -> str:
        return self.slurm.run(["sinfo", "-h", "-n", node, "-o", "%E"]).stdout.strip()

    def resume(self, node: str) -> None:
        """Again and again: a health check that was under way may drain the node once more."""

        def is_idle() -> bool:
            if self.slurm.states()[node] == "idle":
                return True
            with contextlib.suppress(LabError):  # it is in no state that can be resumed, yet
                undrain(self.slurm, node)
            return False

        assert settled(is_idle)


def settled(true: Callable[[], bool], seconds: float = 12) -> bool:
    until = time.monotonic() + seconds
    while not true() and time.monotonic() < until:
        time.sleep(0.2)
    return true()


def n2_fails(folder: Path) -> None:
    file = stored(folder) / RESULT
    document = json.loads(file.read_text())
    document["parts"][0]["nodes"][1].update(verdict="fail", reason="n2 sends 'slowly'; $(reboot)")
    file.write_text(json.dumps(document))


@pytest.fixture(scope="module")
def lab() -> Iterator[Cluster]:
    with cluster(["n1", "n2"], partitions=(Partition(name="normal"),), switches={}) as found:
        yield found


@pytest.fixture
def site(lab: Cluster, tmp_path: Path) -> Iterator[Site]:
    found = Site(lab, tmp_path)
    found.results.mkdir()
    for folder in tmp_path.parents:
        if folder.stat().st_uid == os.geteuid() and str(folder).startswith("/tmp/"):
            folder.chmod(0o755)
    yield found
    found.slurm.conf.write_text(found.conf)
    found.slurm.run(["scontrol", "reconfigure"])
    for node in ("n1", "n2"):
        found.resume(node)


PROLOG = "Prolog={script}"
HEALTH = ("HealthCheckProgram={script}", "HealthCheckInterval=1")


def test_a_prolog_refuses_nothing_until_the_site_says_so(site: Site) -> None:
    site.use("prolog.sh", 'REFUSE=""', PROLOG)
    assert site.job("n1") == 0  # no result at all
    n2_fails(site.results / "a")
    assert site.job("n2") == 0
    assert set(site.slurm.states().values()) == {"idle"}
    variables = site.started.read_text().splitlines()
    assert not [one for one in variables if one.startswith(("HOME=", "USER=", "LANG="))]


def test_a_prolog_refuses_a_node_that_is_proven_bad_and_no_other(site: Site) -> None:
    site.use("prolog.sh", 'REFUSE="fail"', PROLOG)
    n2_fails(site.results / "a")
    assert (site.job("n1"), site.job("n2") != 0) == (0, True)
    assert settled(lambda: site.slurm.states()["n2"].startswith("drain"))
    assert site.reason("n2") == "Prolog error"
    assert site.slurm.states()["n1"] == "idle"


def test_what_is_not_known_refuses_only_where_the_site_wants_it(site: Site) -> None:
    stored(site.results / "a", when=NOW.replace(year=2020))
    site.use("prolog.sh", 'REFUSE="fail"', PROLOG)
    assert site.job("n1") == 0
    site.use("prolog.sh", 'REFUSE="fail undecided"', PROLOG)
    assert site.job("n1") != 0
    assert settled(lambda: site.slurm.states()["n1"].startswith("drain"))


def test_a_slow_or_broken_gate_holds_up_no_prolog_for_longer_than_its_bound(site: Site) -> None:
    stored(site.results / "a")
    site.use("prolog.sh", 'REFUSE="fail"', PROLOG, patience_s=1)
    for command in (SLEEPS, "raise SystemExit", "exit 1 #"):
        site.installed(command)
        began = time.monotonic()
        assert site.job("n1") == 0
        assert time.monotonic() - began < 10


def test_a_health_check_drains_nothing_by_itself(site: Site) -> None:
    n2_fails(site.results / "a")
    site.use("healthcheck.sh", 'DRAIN=""', *HEALTH)
    assert settled(lambda: site.started.exists() and site.started.read_text().count("PWD=") > 4)
    assert set(site.slurm.states().values()) == {"idle"}


def test_a_health_check_drains_the_node_that_fails_with_the_reason(site: Site) -> None:
    n2_fails(site.results / "a")
    site.use("healthcheck.sh", 'DRAIN="fail"', *HEALTH)
    assert settled(lambda: site.slurm.states()["n2"].startswith("drain"))
    assert site.reason("n2").startswith("wireproof fail: n2: n2 sends 'slowly'; $(reboot)")
    assert site.slurm.states()["n1"] == "idle"


def test_a_reason_of_somebody_else_stays(site: Site) -> None:
    n2_fails(site.results / "a")
    drain(site.slurm, "n2", "planted")
    site.use("healthcheck.sh", 'DRAIN="fail undecided"', *HEALTH)
    count = site.started.read_text().count("PWD=") if site.started.exists() else 0
    assert settled(
        lambda: site.started.exists() and site.started.read_text().count("PWD=") > count + 4
    )
    assert site.reason("n2") == "planted"


def test_a_health_check_that_hangs_stops_no_job(site: Site) -> None:
    site.installed(SLEEPS)
    site.use("healthcheck.sh", 'DRAIN="fail"', *HEALTH)
    assert settled(site.started.exists)
    assert site.job("n1") == 0
    assert set(site.slurm.states().values()) == {"idle"}
