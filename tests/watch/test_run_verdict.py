"""What ``run`` makes of a path and of numbers, and how its steps leave for other hosts. Nothing is
run.
"""

import os

import pytest
from tests.records import osu_rates

from wireproof.launch.recipe import find_recipe
from wireproof.logs.json import JudgedSeries, joined
from wireproof.model.errors import BadInput
from wireproof.model.finding import Verdict
from wireproof.model.series import Reason, SeriesPoint, SeriesVerdict
from wireproof.model.traffic import TrafficVerdict
from wireproof.physics import claim_from_text
from wireproof.report.reporter import LoggingReporter
from wireproof.target import Target, this_machine
from wireproof.watch import benchmark
from wireproof.watch.benchmark import main_argv, overall, with_core_and_address, without_claim
from wireproof.watch.specification import BenchmarkSpecification
from wireproof.watch.steps import prepare_steps, step_of


def judged(verdict: Verdict, *codes: str) -> JudgedSeries:
    series = osu_rates([SeriesPoint(message_bytes=8)])
    reasons = [Reason(code=code, severity="inconclusive", message=code) for code in codes]
    return joined(series, SeriesVerdict(proof="on-wire", verdict=verdict, reasons=reasons), None)


GOOD, BAD, DOUBT = judged("pass"), judged("fail"), judged("inconclusive", "row-arithmetic")
RING = judged("inconclusive", "only-a-floor")


@pytest.mark.parametrize(
    ("path", "series", "verdict"),
    [
        ("pass", [GOOD], "pass"),
        ("pass", [GOOD, RING], "pass"),
        ("pass", [RING], "inconclusive"),
        ("pass", [GOOD, DOUBT], "inconclusive"),
        ("pass", [GOOD, BAD], "fail"),
        ("pass", [], "inconclusive"),
        ("inconclusive", [GOOD], "inconclusive"),
        ("fail", [GOOD], "fail"),
        ("fail", [], "fail"),
        ("inconclusive", [BAD], "fail"),
    ],
)
def test_a_pass_needs_a_proven_path_and_good_numbers(
    path: Verdict, series: list[JudgedSeries], verdict: Verdict
) -> None:
    assert overall(path, series) == verdict


def test_memory_on_one_machine_is_no_lie() -> None:
    reason = Reason(code="traffic-off-wire", severity="fail", message="")
    found = without_claim(TrafficVerdict(proof="off-wire", verdict="fail", reasons=[reason]))
    assert (found.proof, found.verdict) == ("off-wire", "inconclusive")
    assert [one.severity for one in found.reasons] == ["note"]
    assert overall(found.verdict, [GOOD]) == "inconclusive"


def hosts(nic: str = "", names: tuple[str, ...] = ("c101", "c102"), agent: str = "") -> Target:
    return Target(hosts=names, start_on=names, nics=(nic,) * len(names) if nic else (), agent=agent)


def test_a_client_on_another_host_goes_by_ssh_with_its_environment() -> None:
    step = step_of("client", "c101", ("prog", "a b"), {"X": "$y"}, ("Z",))
    *_, host, words = main_argv(step, hosts())
    assert host == "c101"
    assert words.endswith("wireproof-node guard --control-stdin -- env -u Z 'X=$y' prog 'a b'")
    assert main_argv(step, hosts(agent="/agent"))[:2] == ["/agent", "c101"]
    here = step_of("rank", "", ("mpirun", "x"), {})
    assert main_argv(here, hosts()) == ["mpirun", "x"]


def wanted(
    tool: str, target: Target, benchmark: str = "", **choices: object
) -> BenchmarkSpecification:
    return BenchmarkSpecification(
        recipe=find_recipe(tool, benchmark),
        target=target,
        **choices,  # type: ignore[arg-type]
    )


def informed(tool: str, target: Target, **choices: object) -> BenchmarkSpecification:
    return with_core_and_address(wanted(tool, target, **choices), LoggingReporter())


def test_hosts_are_asked_for_core_and_address(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []

    def answer(host: str, argv: list[str], _place: Target) -> str:
        asked.append((host, argv[0]))
        return {"cat": "0-23\n", "ls": "ib0\n", "ip": "3: ib0 inet 10.0.9.2/24 scope global ib0\n"}[
            argv[0]
        ]

    monkeypatch.setattr(benchmark, "_ask", answer)
    found = informed("ib_write_bw", hosts("hfi1_0"))
    assert (found.cpu, found.address) == (4, "10.0.9.2")
    assert asked == [("c101", "cat"), ("c102", "ls"), ("c102", "ip")]
    said = informed("ib_write_bw", hosts("hfi1_0"), cpu=7, address="a")
    assert (said.cpu, said.address) == (7, "a")
    asked.clear()
    assert informed("iperf3", hosts()) == wanted("iperf3", hosts())
    assert informed("iperf3", this_machine()) == wanted("iperf3", this_machine())
    assert informed("osu_mbw_mr", hosts("eth0")).cpu is None
    assert not asked


def test_a_host_that_answers_nonsense_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "_ask", lambda *_: "-oProxyCommand=evil $(id)\n\x1b[31m")
    assert informed("iperf3", hosts("eth0")) == wanted("iperf3", hosts("eth0"))


def lines(
    tool: str, benchmark: str = "", place: Target | None = None, **asked: object
) -> list[str]:
    dry = wanted(tool, place or hosts(), benchmark, dry=True, **asked)
    return [step.line for step in prepare_steps(dry, os.environ).steps]


def test_the_documents_lines_for_servers_and_clients() -> None:
    assert lines("iperf3", cpu=4, read_by_people=True) == [
        "iperf3 -s -1 -A 4",
        "iperf3 -c c102 -t 12 -O 2 -l 1048576 -w 2097152 -f m -A 4",
    ]
    assert lines("iperf3", read_by_people=False)[1].endswith(" -J")
    server, client = lines("qperf", "tcp_bw", cpu=6, address="10.0.0.2")
    assert server == "qperf"
    for words in ("10.0.0.2", "-m 1048576", "-ca 6", "tcp_bw"):
        assert words in client
    for line in lines("ib_write_bw", place=hosts("hfi1_0")):
        for words in ("ib_write_bw", "-F", "-R", "-s 1048576", "-d hfi1_0"):
            assert words in line
    assert all(line.startswith("taskset -c 5 ib_write_bw") for line in lines("ib_write_bw", cpu=5))


def test_fi_pingpong_is_told_its_provider() -> None:
    assert lines("fi_pingpong")[0] == "fi_pingpong -p tcp -e rdm"
    psm3 = lines("fi_pingpong", fabric="psm3", place=hosts("hsn0"))
    assert psm3[1] == "PSM3_HAL=sockets PSM3_NIC=hsn0 fi_pingpong -p psm3 -e rdm c102"


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        (hosts("hfi1_0"), True),
        (hosts(), True),
        (hosts("mlx5_0"), False),
        (Target(hosts=("a", "b"), start_on=("a", "b"), link=claim_from_text("edr")), False),
        (Target(hosts=("a", "b"), start_on=("a", "b"), link=claim_from_text("opa100")), True),
    ],
)
def test_omni_paths_driver_steps_are_printed_and_never_run(place: Target, shown: bool) -> None:
    prepared = prepare_steps(wanted("ib_write_bw", place, dry=True), os.environ)
    assert prepared.root_steps == (
        ("modprobe hfi1", "modprobe ib_ipoib", "ifup ib0") if shown else ()
    )
    assert "modprobe" not in " ".join(step.line for step in prepared.steps)


@pytest.mark.parametrize("tool", ["iperf3", "osu_latency"])
def test_a_test_between_two_takes_two_hosts(tool: str) -> None:
    with pytest.raises(BadInput, match="between two hosts, not 3"):
        prepare_steps(wanted(tool, hosts(names=("a", "b", "c")), dry=True), os.environ)
    with pytest.raises(BadInput, match="--pairs"):
        prepare_steps(wanted(tool, hosts(), dry=True, pairs=2), os.environ)
