"""Every subcommand that prints JSON, as cheaply as it really runs: ``python -m
tests.contract.json_documents FOLDER`` calls them all in one process and keeps what each printed;
with ``--examples`` also as the examples of docs/reference/json.
"""

import contextlib
import json
import os
import re
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from tests.audit.trees import lay_out
from tests.experiment.test_gain import row, told
from tests.experiment.test_study_conclude import OBEYED, runs, study
from tests.tune.node import end_timers
from tests.zoo.pfc_adapters import ADAPTERS
from tests.zoo.pfc_trees import as_trees
from tests.zoo.pfc_worlds import SITUATIONS

from wireproof.cli import main

ROOT = Path(__file__).resolve().parents[2]
STORED = ROOT / "tests" / "golden" / "stored"
MODEL = "--transport model --model latency_ns=2000000,gap_ns_per_byte=0.1"
ACCEPTED = "--budget 1ms --rounds 1 --profile acceptance --out accepted --json"
PLACES = "--root=root --state={folder}/state"


class Case(NamedTuple):
    """One call. ``words``: {id} stands for the change set that was applied before, {folder} for the
    folder; ``schema``: of the document that it prints. ``subcommand``: what the words begin with.
    """

    subcommand: str
    more: str
    schema: str

    @property
    def words(self) -> str:
        return f"{self.subcommand} {self.more}".strip()


class Printed(NamedTuple):
    """What came of one call."""

    status: int
    out: str


CASES: tuple[Case, ...] = (
    Case("atlas", "opa100 --pattern pingpong --json", "atlas"),
    Case("audit", "--from stored/snapshot-2/settings.snapshot clock-source --json", "audit"),
    Case("audit", "--list --format json", "settings"),
    Case(
        "audit",
        "--from stored/snapshot-2/settings.snapshot --explain clock-source --json",
        "settings",
    ),
    Case("check", f"--hosts h[1-2] {MODEL} --budget 1ms --rounds 1 --out kept --json", "result"),
    Case("check", f"--hosts h[1-2] {MODEL} --prolog --json", "gate"),
    Case("check", f"--hosts h[1-2] {MODEL} --dry-run --json", "dry-run"),
    Case("compare", "stored/result-1/check stored/run-1/check --json", "comparison"),
    Case(
        "compare",
        "--nodes 2,4 stored/../logs/osu_latency_impi_10g.txt "
        "stored/../logs/osu_latency_impi_10g.txt --json",
        "scaling",
    ),
    Case("explain", "1.24us --size 8 --link edr --json", "conversion"),
    Case("explain", "--links --json", "links"),
    Case("demo", "--json", "results"),
    Case("doctor", "--no-run --json", "diagnosis"),
    Case("doctor", "--providers --json", "providers"),
    Case("check", f"--hosts h[1-2] {MODEL} {ACCEPTED}", "result"),
    Case("dossier verify", "accepted --json", "dossier"),
    Case("explain", "off-wire --json", "explanations"),
    Case("explain", "tuned-profile --json", "explanations"),
    Case("gate", "stored/result-1/check --max-age 168h --json", "gate"),
    Case("gate", "stored/result-1/check --dialect json", "gate"),
    Case("history list", "stored/result-1/history --json", "history"),
    Case("history nodes", "stored/result-1/history --json", "history-nodes"),
    Case("history show", "stored/result-1/history last --json", "result"),
    Case("history trend", "stored/result-1/history --json", "history-trend"),
    Case("judge", "stored/../logs/osu_latency_impi_10g.txt --link 10gbe --json", "judgement"),
    Case("judge", "stored/../logs/README.md --json", "judgement"),
    Case("history show", "stored/imported-1 last --json", "judgement"),
    Case("lab status", "--json", "labs"),
    Case(
        "ladder",
        "--transport model --layers tcp,mpi --sizes 8,64,512,64KiB,256KiB,1MiB --rounds 3 --seed 1"
        " --json",
        "ladder",
    ),
    Case("ladder", "--transport model --layers tcp,mpi --dry-run --json", "experiment-plan"),
    Case("lint", "job.sbatch gone.sbatch --json", "lint"),
    Case("lint", "--rules --json", "lint-rules"),
    Case("locate", "--world world.toml --rounds 4 --json", "location"),
    Case("measure", f"pingpong {MODEL} --sizes 8 --budget 1ms --json", "result"),
    Case("measure", "stream --gain --json", "rails"),
    Case("measure", "stream --hosts n1 --json", "error"),
    Case("pfc", "--from trees --nic hsn0 --priority 3 --json", "pfc-report"),
    Case("plan footprint", "-N 16 -P 28 --mode psm3-rdma1 --json", "plan-footprint"),
    Case("plan pfc", "--speed 25 --mtu 4200 --cable 30 --ports 32 --json", "plan-pfc"),
    Case("plan scale", "-N 2,4 --start 1.5us --rate 12GB/s --json", "plan-scale"),
    Case("plan validate", "-N 64 --start 1.5us --rate 12GB/s --json", "plan-validate"),
    Case("prove", "--json -- true", "proof"),
    Case("report", "stored/result-1/check --json", "result"),
    Case("report", "stored/result-1/check stored/run-2/measure --json", "results"),
    Case("resume", "kept --json", "result"),
    Case("run", "iperf3 --program iperf3 --seconds 1 --json", "benchmark"),
    Case("run", "iperf3 --program iperf3 --dry-run --json", "benchmark-plan"),
    Case("run", "iperf3 --list --json", "recipes"),
    Case("study", "psm3 --json", "study"),
    Case("tune plan", f"swappiness --json {PLACES.split()[0]}", "tune-plan"),
    Case("tune export", f"ansible swappiness --json {PLACES.split()[0]}", "tune-export"),
    Case("tune apply", f"swappiness --yes --json {PLACES}", "tuned"),
    Case("tune status", f"--json {PLACES}", "tuned"),
    Case("tune confirm", f"{{id}} --json {PLACES}", "tuned"),
    Case("tune verify", f"--json {PLACES}", "tuned"),
    Case("tune residue", f"--json {PLACES}", "tune-residue"),
    Case("tune revert", f"--json {PLACES}", "tuned"),
    Case("tune confirm", f"none-such --json {PLACES}", "tuned"),
    Case("tune try", "A=1,2 --budget-s 1.5 --seed 1 --json -- true", "trial"),
)

_JOB = "#!/bin/sh\n#SBTACH -N 2\nexport I_MPI_PIN_PROCESOR_LIST=0-23\nmpirun ./a\n"
_IPERF3 = '#!/bin/sh\ncase " $* " in *" -s "*) exec sleep 20 ;; esac\nexec cat "{}"\n'


def lay(folder: Path) -> None:
    """The files that the calls are about."""
    shutil.copytree(STORED, folder / "stored")
    shutil.copytree(STORED.parent / "logs", folder / "logs")
    shutil.copy(ROOT / "examples" / "worlds" / "slow-node.toml", folder / "world.toml")
    (folder / "job.sbatch").write_text(_JOB)
    (folder / "iperf3").write_text(_IPERF3.format(folder / "logs" / "iperf3_plain_loopback.txt"))
    (folder / "iperf3").chmod(0o755)
    for part in ("etc/tmpfiles.d", "etc/modprobe.d"):
        (folder / "root" / part).mkdir(parents=True)
    lay_out(folder / "root", "haswell-hfi1", {"proc/sys/vm/swappiness": "60"})
    world = next(one.world for one in SITUATIONS if one.key == "dropped")
    as_trees(folder / "trees", next(one for one in ADAPTERS if one.key == "mlx5"), world)


def call(words: list[str], folder: Path) -> Printed:
    """The program on these words, in this process."""
    sys.stdout.flush()
    kept = os.dup(1)
    with (folder / "stdout").open("wb+") as out:
        os.dup2(out.fileno(), 1)
        try:
            status = main(words)
        finally:
            sys.stdout.flush()
            os.dup2(kept, 1)
            os.close(kept)
        out.seek(0)
        return Printed(status, out.read().decode())


@contextlib.contextmanager
def without_a_cluster() -> Iterator[None]:
    """A lab, rails and a library of a fabric are too much for this: a stored result, a made study
    and a made gain take their place, behind the same subcommands.
    """
    from wireproof.measure.report import report
    from wireproof.measure.result import Result
    from wireproof.report.reporter import LoggingReporter

    (again,) = report([STORED / "result-1" / "check"], LoggingReporter(), pages=False)
    twice = Result(parts=again.parts * 2)
    faults = {"one node sends slowly": "n3", "memory instead of the wire": "off-wire"}
    made = study(runs([{"stream": 2.0}], 2), {1: OBEYED})
    gained = (told([row(100e6, 100e6, 190e6)]), None)
    with (
        mock.patch("wireproof.workflow.demo.demo", return_value=(twice, faults)),
        mock.patch("wireproof.experiment.study.job.run_study", return_value=made),
        mock.patch("wireproof.experiment.rails.measure_gain", return_value=gained),
    ):
        yield


def printed_in(folder: Path) -> dict[str, Printed]:
    """Each call of ``CASES`` by its words, in order."""
    found: dict[str, Printed] = {}
    name = ""
    lay(folder)
    os.chdir(folder)
    with without_a_cluster():
        for case in CASES:
            print(case.words, file=sys.stderr)
            done = call(case.words.format(id=name, folder=folder).split(), folder)
            if case.subcommand == "tune apply":
                name = json.loads(done.out)["id"]
            found[case.words] = done
    end_timers(folder / "root")
    return found


def examples(found: dict[str, Printed], folder: Path) -> dict[str, Any]:
    """The first document of each schema, shortened, without what is of this machine alone."""
    hidden = {
        re.escape(str(folder)): "/home/user",
        re.escape(str(Path(sys.prefix).resolve())): "/opt/wireproof",
        re.escape(str(ROOT)): "/opt/wireproof",
        f'"{re.escape(socket.gethostname())}"': '"n1"',
        re.escape(os.uname().release): "6.1.0",
        r"\b[0-9a-f]{32}\b": "0123456789abcdef0123456789abcdef",
        "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}": "f7c2c5a6-0f2b-4bd1-8a39-2f6a1b1f9a01",
    }
    first: dict[str, Any] = {}
    for done in found.values():
        text = done.out
        for here, shown in hidden.items():
            text = re.sub(here, shown, text)
        document = json.loads(text)
        first.setdefault(document["schema"].removeprefix("wireproof."), _short(document))
    return first


def _short(value: Any) -> Any:
    """Of each list the first entry, of each long text the beginning."""
    match value:
        case list():  # a few numbers or names may be a pair that is no pair when one is left out
            few = len(value) <= _FEW and not any(isinstance(one, dict) for one in value)
            return [_short(one) for one in (value if few else value[:1])]
        case dict():
            return {key: _short(one) for key, one in value.items()}
        case str() if len(value) > _LONGEST:
            return value[:_LONGEST].rsplit(" ", 1)[0] + " ..."
    return value


_LONGEST = 120
_FEW = 4


def _write(found: dict[str, Printed], folder: Path) -> None:
    """Write the examples of docs/reference/json.md that are new or have other members: the values
    differ with each call. Then tools/pages.py puts them on the page.
    """
    place = ROOT / "docs" / "reference" / "json"
    for name, document in examples(found, folder).items():
        file = place / f"{name}.json"
        if not file.exists() or json.loads(file.read_text()).keys() != document.keys():
            file.write_text(json.dumps(document, indent=1) + "\n")
            print(file)


if __name__ == "__main__":
    place = Path(sys.argv[1]).resolve()
    everything = printed_in(place)
    (place / "printed.json").write_text(json.dumps(everything))
    if "--examples" in sys.argv:
        _write(everything, place)
