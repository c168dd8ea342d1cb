"""PSM3's counters beside those of the port: they agree, or somebody is told."""

import pytest
from tests.logs.test_psm3_verdict import codes, pair

from wireproof.logs.psm3.verdict import judge_statistics
from wireproof.model.psm3 import JudgedStatistics
from wireproof.model.record import Nic, Rdma
from wireproof.model.traffic import HostTraffic, Ledger, LedgerEntry, PortLedger, Traffic

PAYLOAD = 200_000_000.0


def port(name: str, out: float | None, into: float | None, device: str = "") -> PortLedger:
    def entries(count: float | None) -> list[LedgerEntry]:
        quality = "exact" if count is not None else "unreadable"
        return [LedgerEntry(carrier="any", level="wire", quality=quality, bytes=count)]  # type: ignore[arg-type]

    rdma = Rdma(device=device, port=1) if device else None
    return PortLedger(nic=Nic(name=name, rdma=rdma), tx=entries(out), rx=entries(into))


def watched(*hosts: str, ports: PortLedger, error: str = "") -> Traffic:
    return Traffic(
        hosts=[
            HostTraffic(
                host=host,
                error=error,
                ledger=Ledger(host=host, interval_ns=1e9, ports={ports.nic.name: ports}),
            )
            for host in hosts
        ],
        seconds=1.0,
        idle_s=1.0,
        interval_s=0.1,
    )


def held(traffic: Traffic) -> JudgedStatistics:
    return judge_statistics(pair(), wire=True, traffic=traffic)


def test_two_witnesses_that_agree_prove_the_wire() -> None:
    found = held(watched("n0", "n1", ports=port("mlx5_0", 1.05 * PAYLOAD, 1.05 * PAYLOAD)))
    assert (found.verdict, found.proof) == ("pass", "on-wire")
    assert codes(found) == {"psm-port-agrees": "note"}
    assert len(found.findings) == 4


@pytest.mark.parametrize("host", ["n0.cluster.example", "n0"])
def test_an_rdma_device_is_found_behind_its_interface(host: str) -> None:
    ports = port("ens1f0", 1.05 * PAYLOAD, 1.05 * PAYLOAD, device="mlx5_0")
    found = held(watched(host, "n1", ports=ports))
    assert found.proof == "on-wire"


def test_a_port_that_lacks_the_bytes_fails() -> None:
    """PSM3 says that it sent; the port saw half."""
    found = held(watched("n0", "n1", ports=port("mlx5_0", 0.5 * PAYLOAD, 1.05 * PAYLOAD)))
    assert (found.verdict, found.proof) == ("fail", "unproven")
    assert codes(found)["psm-port-disagrees"] == "fail"
    assert found.findings[0].subject == "n0 mlx5_0 tx"


def test_a_port_with_more_than_headers_explain_is_a_warning() -> None:
    found = held(watched("n0", "n1", ports=port("mlx5_0", 3 * PAYLOAD, 1.05 * PAYLOAD)))
    assert found.verdict == "pass"
    assert codes(found)["psm-port-disagrees"] == "warning"


@pytest.mark.parametrize(
    "traffic",
    [
        watched("n0", "n1", ports=port("eth0", PAYLOAD, PAYLOAD)),
        watched("n0", "n1", ports=port("mlx5_0", None, None)),
        watched("n0", "n1", ports=port("mlx5_0", PAYLOAD, PAYLOAD), error="no answer"),
        watched("other", ports=port("mlx5_0", PAYLOAD, PAYLOAD)),
    ],
)
def test_without_a_second_witness_nothing_is_proven(traffic: Traffic) -> None:
    found = held(traffic)
    assert (found.verdict, found.proof) == ("inconclusive", "unproven")
    assert codes(found) == {"psm-port-unread": "inconclusive"}


def test_no_file_at_all() -> None:
    found = judge_statistics([], traffic=watched("n0", ports=port("a", 1.0, 1.0)))
    assert codes(found) == {"psm-no-files": "inconclusive"}
