"""What PSM3's counters mean: each rule on planted counters and on real files."""

from pathlib import Path
from typing import Any

import pytest

from wireproof.logs.psm3.counters import by_host, counted, unaccounted_bytes
from wireproof.logs.psm3.statistics import statistics
from wireproof.logs.psm3.verdict import judge_statistics
from wireproof.logs.psm3.verdict.path import lower_bound
from wireproof.model.psm3 import (
    CounterSection,
    Identity,
    JudgedStatistics,
    LibrarySetting,
    Rail,
    Statistics,
)

GOLDEN = Path(__file__).parents[1] / "golden" / "psm3"
MOVED = {
    "Total_count_sent": 2000,
    "Total_bytes_sent": 200_000_000,
    "Total_count_recv": 2000,
    "Total_bytes_recv": 200_000_000,
}
SENT = {
    "scb_alloc": 50_000,
    "eager_copy_cpu_isend_bytes": 200_000_000,
    "eager_cpu_recv_bytes": 200_000_000,
}


def real(folder: str) -> list[Statistics]:
    files = sorted((GOLDEN / folder).iterdir())
    return [statistics(path.read_bytes(), str(path)) for path in files]


def rail(name: str) -> Rail:
    return Rail(
        unit=0, name=name, port=1, mbps=100_000, numa_node=0, address="10.0.0.1", ports={}, line=1
    )


def process(
    rank: int = 0,
    summary: dict[str, int] | None = None,
    nics: dict[str, dict[str, int]] | None = None,
    settings: dict[str, str] | None = None,
    **more: Any,
) -> Statistics:
    """One rank of two, alone on its host, over one RoCE NIC unless said otherwise."""
    nics = {"mlx5_0": SENT} if nics is None else nics
    identity = {"ranks": 2, "hal": "verbs", "build": "DELTA 1", **more}
    sections = [CounterSection(heading="MPI_Statistics_Summary", line=1, counters=summary or MOVED)]
    sections += [
        CounterSection(heading="PSM_low-level_protocol_stats", line=9, nic=name, counters=counters)
        for name, counters in nics.items()
    ]
    if (settings or {}).get("PSM3_RDMA", "0") != "0":
        sections.append(CounterSection(heading="TID_Flow_Statistics", line=20, counters={}))
    return Statistics(
        source=f"psm3-perf-stat-n{rank}-pid-{rank}",
        library="psm3",
        layout="blocks with settings",
        host=f"n{rank}",
        pid=rank,
        identity=Identity(
            label="", host=f"n{rank}", rank=rank, rails=[rail(name) for name in nics], **identity
        ),
        settings=[
            LibrarySetting(name=name, value=value, kind="given", line=3)
            for name, value in (settings or {}).items()
        ],
        sections=sections,
        blocks=1,
        seconds=3,
    )


def pair(**more: Any) -> list[Statistics]:
    return [process(0, **more), process(1, **more)]


def codes(judged: JudgedStatistics) -> dict[str, str]:
    return {one.code: one.severity for one in judged.findings}


def judged(**more: Any) -> dict[str, str]:
    return codes(judge_statistics(pair(**more), wire=True))


def nic(**counters: int) -> dict[str, dict[str, int]]:
    return {"mlx5_0": {**SENT, **counters}}


def test_nothing_speaks_against_a_sound_pair() -> None:
    found = judge_statistics(pair(), wire=True)
    assert (found.verdict, found.proof, found.findings) == ("pass", "unproven", [])


@pytest.mark.parametrize(
    ("folder", "wire", "verdict", "proof"),
    [
        ("two-hosts", True, "pass", "unproven"),
        ("two-rails", True, "pass", "unproven"),
        ("rendezvous", True, "pass", "unproven"),
        ("periodic", None, "pass", "unproven"),
        ("zeros", True, "pass", "unproven"),
        ("udp", True, "pass", "unproven"),
        ("loss", True, "pass", "unproven"),
        ("one-host", True, "fail", "off-wire"),
        ("one-host", None, "inconclusive", "off-wire"),
        ("one-host", False, "pass", "off-wire"),
        ("four-ranks", True, "fail", "off-wire"),
        ("nothing", True, "inconclusive", "unproven"),
        ("verbs-rdma0", True, "pass", "unproven"),
        ("verbs-rdma1", True, "fail", "unproven"),
        ("verbs-rdma2", True, "pass", "unproven"),
        ("verbs-rdma3", True, "pass", "unproven"),
    ],
)
def test_real_files(folder: str, wire: bool | None, verdict: str, proof: str) -> None:
    found = judge_statistics(real(folder), wire=wire)
    assert (found.verdict, found.proof) == (verdict, proof)


def test_no_file_and_no_message_never_pass() -> None:
    assert judge_statistics([], wire=True).verdict == "inconclusive"
    empty = judge_statistics(pair(summary={"COMM_WORLD_Rank": 0}, nics={}), wire=None)
    assert empty.verdict == "inconclusive"
    assert codes(empty) == {"psm-nothing-moved": "inconclusive"}


@pytest.mark.parametrize(
    "folder", ["two-hosts", "two-rails", "rendezvous", "four-ranks", "udp", "verbs-rdma2"]
)
def test_a_nics_ways_to_send_add_up_to_the_summary(folder: str) -> None:
    """To the byte, and what one host's NICs sent the others' received."""
    processes = [counted(one) for one in real(folder)]
    assert [unaccounted_bytes(one) for one in processes] == [0] * len(processes)
    hosts = by_host(processes)
    sent = sum(nic.sent_bytes for host in hosts for nic in host.nics)
    received = sum(nic.received_bytes for host in hosts for nic in host.nics)
    assert sent == pytest.approx(received, rel=0.05)


def test_part_of_the_bytes_within_hosts() -> None:
    summary = {**MOVED, "shm_count_sent": 500, "shm_bytes_sent": 50_000_000}
    sent = {**SENT, "eager_copy_cpu_isend_bytes": 150_000_000}
    found = judge_statistics(pair(summary=summary, nics={"mlx5_0": sent}), wire=True)
    assert (found.proof, codes(found)) == ("mixed", {"psm-partly-memory": "warning"})


@pytest.mark.parametrize(
    ("again", "severity"), [(0, None), (1, "note"), (6, "warning"), (40, "fail"), (4000, "fail")]
)
def test_losses_are_rated_by_what_is_sure(again: int, severity: str | None) -> None:
    """Of 50,000 packets: 1e-4 are 5, and 6 may be the luck of 3."""
    assert judged(nics=nic(send_rexmit=again)).get("psm-retransmits") == severity


def test_a_lower_bound_is_below_its_count() -> None:
    """Against the exact Poisson bounds of 1, 5 and 100 at 95 %, one-sided."""
    for count, exact in ((1, 0.0513), (5, 1.970), (100, 84.14)):
        assert lower_bound(count) == pytest.approx(exact, rel=0.25 if count == 1 else 0.02)
    assert lower_bound(0) == 0


def test_losses_over_sockets_are_no_failure() -> None:
    assert judged(nics=nic(send_rexmit=4000), hal="sockets")["psm-retransmits"] == "warning"


def test_losses_beside_pauses_say_that_pfc_is_not_lossless() -> None:
    files = pair(nics=nic(send_rexmit=4000))
    found = judge_statistics(files, wire=True, pauses={"rx_prio3_pause": 12})
    assert codes(found) == {"psm-pfc-not-lossless": "fail"}
    quiet = judge_statistics(files, wire=True, pauses={})
    assert codes(quiet) == {"psm-retransmits": "fail"}


def test_waits_for_credits() -> None:
    assert judged(nics=nic(pio_no_flow_credits=2_000)) == {}
    assert judged(nics=nic(pio_no_flow_credits=40_000)) == {"psm-credit-stalls": "note"}
    lossy = judged(nics=nic(pio_no_flow_credits=40_000, send_rexmit=1))
    assert lossy["psm-credit-stalls"] == "warning"


def test_what_must_never_be_counted() -> None:
    assert judged(nics=nic(recv_wc_error=1)) == {"psm-errors": "fail"}
    assert judged(nics=nic(**{"stray_packets_(*)": 1})) == {"psm-errors": "warning"}


@pytest.mark.parametrize(
    ("mode", "hal", "rdma", "severity"),
    [
        ("1", "verbs", 0, "fail"),
        ("1", "verbs", 9_000_000, "warning"),
        ("0", "verbs", 0, "note"),
        ("1", "sockets", 0, "note"),
    ],
)
def test_rendezvous_that_did_not_use_rdma(mode: str, hal: str, rdma: int, severity: str) -> None:
    counters = {
        "scb_alloc": 50_000,
        "rndv_long_copy_cpu_send_bytes": 200_000_000 - rdma,
        "rndv_cpu_isend_bytes": 200_000_000,
        "rndv_rdma_cpu_send_bytes": rdma,
    }
    found = judged(nics={"mlx5_0": counters}, settings={"PSM3_RDMA": mode}, hal=hal)
    assert found["psm-rendezvous-without-rdma"] == severity


def test_ranks_that_are_not_alike() -> None:
    first = process(0, settings={"PSM3_RDMA": "1"})
    found = judge_statistics([first, process(1, settings={"PSM3_RDMA": "0"})], wire=True)
    assert codes(found) == {"psm-ranks-disagree": "fail"}
    assert "1: n0 rank 0; 0: n1 rank 1" in found.findings[0].message
    found = judge_statistics([process(0), process(1, hal="sockets")], wire=True)
    assert codes(found)["psm-ranks-disagree"] == "fail"
    found = judge_statistics([first, process(1, settings={"PSM3_RDMA": "1"})], wire=True)
    assert found.findings == []


def test_each_difference_is_said() -> None:
    one = process(0, settings={"PSM3_MTU": "4096", "PSM3_FLOW_CREDITS": "64"})
    found = judge_statistics([one, process(1)], wire=True)
    assert [finding.code for finding in found.findings] == ["psm-ranks-disagree"] * 2


def test_rails() -> None:
    def two(first: int, second: int) -> dict[str, str]:
        sent = {
            "a": {"eager_copy_cpu_isend_bytes": first, "scb_alloc": 9},
            "b": {"eager_copy_cpu_isend_bytes": second, "scb_alloc": 9},
        }
        return judged(nics=sent)

    assert two(100_000_000, 100_000_000) == {}
    assert two(130_000_000, 70_000_000) == {"psm-rails-unequal": "inconclusive"}
    assert two(200_000_000, 0) == {"psm-rail-idle": "inconclusive"}


def test_a_rail_that_was_opened_and_has_no_counters_is_idle() -> None:
    one = process(0)
    files = [one, process(1)]
    one.identity.rails.append(rail("mlx5_1"))
    assert codes(judge_statistics(files, wire=True))["psm-rail-idle"] == "inconclusive"


def test_late_receives_and_long_queues() -> None:
    summary = {**MOVED, "Unexpected_count_recv": 1500, "Expected_avg_search_cmp": 300}
    assert judged(summary=summary) == {"psm-late-receives": "note", "psm-long-queues": "note"}


def test_a_missing_rank_and_a_rank_twice() -> None:
    found = judge_statistics([process(0)], wire=True)
    assert (found.verdict, codes(found)) == ("inconclusive", {"psm-ranks-missing": "inconclusive"})
    found = judge_statistics([process(0), process(1), process(1)], wire=True)
    assert codes(found)["psm-jobs-mixed"] == "inconclusive"


def test_counters_that_do_not_add_up() -> None:
    short = {"mlx5_0": {**SENT, "eager_copy_cpu_isend_bytes": 100_000_000}}
    assert judged(nics=short) == {"psm-sums-differ": "inconclusive"}
    lost = {**MOVED, "Total_bytes_recv": 150_000_000}
    assert judged(summary=lost) == {"psm-sums-differ": "inconclusive"}


def test_a_cut_file_never_passes() -> None:
    data = (GOLDEN / "two-hosts" / "psm3-perf-stat-n1-pid-10").read_bytes()
    cut = statistics(data[: data.rindex(b"scb_alloc") + 12], "psm3-perf-stat-n1-pid-10")
    found = judge_statistics([cut, real("two-hosts")[1]], wire=True)
    assert found.verdict == "inconclusive"
    assert "psm-file-incomplete" in codes(found)


def test_refused_settings_are_said_once() -> None:
    found = judge_statistics(real("nothing"), wire=True)
    said = [one.message for one in found.findings if one.code == "psm-setting-refused"]
    assert said == ["PSM3 reads PSM3_NIC=fab0 as the number 0xfab0, not as a name"]
    assert not judged(settings={"PSM3_NIC": "mlx5_0"})


def test_psm2s_table_counts_messages_by_path() -> None:
    names = ("delta_t", "rx_user_bytes", "rx_user_num", "tx_num", "tx_eager_bytes", "tx_shm_num")
    row = (1, 5000, 20, 20, 5000, 20)
    text = "".join(f"{name:>16}" for name in names) + "\n" + "".join(f"{one:16}" for one in row)
    one = statistics((text + "\n").encode(), "psm2-perf-stat-ep-0x2-pid-4")
    found = judge_statistics([one], wire=True)
    assert found.proof == "off-wire"
    assert codes(found) == {"psm-shared-memory": "fail", "psm-layout-unchecked": "note"}


def test_a_mode_that_fell_back_without_a_sound() -> None:
    """PSM3_RDMA=1 over verbs, in a build without rv: mode 0 is in force."""
    found = judge_statistics(real("verbs-rdma1"), wire=True)
    assert codes(found) == {"psm-rdma-not-in-use": "fail", "psm-late-answers": "note"}
    assert codes(judge_statistics(real("verbs-rdma2"), wire=True)) == {}


def test_late_answers_are_no_losses() -> None:
    """A busy peer lets the sender ask; only what is sent again was lost."""
    assert judged(nics=nic(err_chk_recv=40)) == {"psm-late-answers": "note"}
    assert judged(nics=nic(err_chk_recv=40, send_rexmit=40)) == {"psm-retransmits": "fail"}
