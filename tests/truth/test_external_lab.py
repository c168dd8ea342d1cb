"""Logs of a virtual cluster's shaped links: real wires by their own claim, and shared memory on one
of its nodes.
"""

from pathlib import Path

import msgspec
import pytest

from wireproof.logs.readers import read
from wireproof.logs.verdict import judge_series
from wireproof.model.series import SeriesVerdict
from wireproof.physics import claim_from_text

LOGS = Path(__file__).resolve().parents[1] / "golden" / "logs"


def judged(name: str, link: str) -> list[SeriesVerdict]:
    """Every series of a log, compared with a link of the lab: its shaper counts no preamble."""
    claim = msgspec.structs.replace(claim_from_text(link), preamble_counted=False)
    return [judge_series(one, claim, path="tcp") for one in read((LOGS / name).read_bytes(), name)]


@pytest.mark.parametrize(
    ("name", "link"),
    [
        ("osu74-bw-tcp1g.out", "1gbe"),
        ("imb2021-p2p-pingpong-tcp1g.out", "1gbe"),
        ("osu_latency_impi_10g.txt", "10gbe"),
        ("osu_latency_ompi4_10g.txt", "10gbe"),
        ("osu_bw_impi_10g.txt", "10gbe"),
        ("osu_bw_m5_10g.txt", "10gbe"),
        ("osu_bw_ompi4_10g.txt", "10gbe"),
        ("osu74-latency-tcp10g.out", "10gbe"),
        ("osu74-put_bw-tcp10g.out", "10gbe"),
    ],
)
def test_a_shaped_link_passes_by_its_own_claim(name: str, link: str) -> None:
    (found,) = judged(name, link)
    assert (found.proof, found.verdict) == ("unproven", "pass"), found.reasons


@pytest.mark.parametrize(
    "name", ["osu74-latency-validate-shm.out", "imb_mpi1_pingpong_SHM_same_node.txt"]
)
def test_shared_memory_on_a_node_of_the_lab_is_excluded(name: str) -> None:
    (found,) = judged(name, "10gbe")
    assert (found.proof, found.verdict) == ("off-wire", "fail")
    assert len({reason.code for reason in found.reasons if reason.severity == "fail"}) >= 3


def test_no_log_of_a_wire_is_called_memory_by_its_own_claim() -> None:
    logs = sorted(path.name for path in LOGS.glob("*tcp1*g.out"))
    assert len(logs) > 10
    for name in logs:
        for found in judged(name, "1gbe" if "1g." in name else "10gbe"):
            assert found.proof == "unproven", (name, found.reasons)
