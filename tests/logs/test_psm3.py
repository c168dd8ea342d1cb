"""PSM3's statistics files and identify lines: what is read, what is refused, what never passes."""

from pathlib import Path

import msgspec
import pytest

from wireproof.logs.psm3 import is_help, is_statistics
from wireproof.logs.psm3.identify import identities_of, kept, settings_of
from wireproof.logs.psm3.statistics import statistics
from wireproof.model.errors import BadInput
from wireproof.model.psm3 import Statistics

GOLDEN = Path(__file__).parents[1] / "golden" / "psm3"
FOLDERS = sorted(path.name for path in GOLDEN.iterdir() if path.is_dir())
ALONE = """\
Time Delta 12 seconds Fri Nov 20 19:05:27 2026
 MPI_Statistics_Summary id 0x1410a:3 tid 71
    COMM_WORLD_Rank 2 (2)
    Total_count_sent 10 (10)
 PSM_low-level_protocol_stats id 0x1410a:3 mlx5_0 tid 71
    send_rexmit 4 (4)
    sdma_compl_slow (*) 2 (2)
    a_counter_of_the_future 9 (9)

"""
TABLE = "".join(f"{name:>16}" for name in ("delta_t", "rx_user_bytes", "rx_user_num", "tx_shm_num"))


def read_all(folder: str) -> list[Statistics]:
    return [
        statistics(path.read_bytes(), str(path)) for path in sorted((GOLDEN / folder).iterdir())
    ]


def counter(one: Statistics, heading: str, name: str, nic: str = "") -> int | None:
    return next(
        (
            section.counters.get(name)
            for section in one.sections
            if section.heading == heading and section.nic == nic
        ),
        None,
    )


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_real_file_is_read_whole(folder: str) -> None:
    for path, one in zip(sorted((GOLDEN / folder).iterdir()), read_all(folder), strict=True):
        assert is_statistics(path.read_bytes())
        assert one.complete
        assert one.doubts == []
        host, _, pid = path.name.removeprefix("psm3-perf-stat-").partition("-pid-")
        assert (one.host, one.pid) == (host, int(pid))
        lines = path.read_text(encoding="utf-8").split("\n")
        for section in one.sections:
            assert section.heading in lines[section.line - 1]
            for name, value in section.counters.items():
                assert any(line.startswith(f"    {name} {value} (") for line in lines)


@pytest.mark.parametrize("folder", FOLDERS)
def test_nothing_of_the_environment_passes(folder: str) -> None:
    """Neither the variables, nor the arguments, nor the job's key."""
    for one in read_all(folder):
        kept = msgspec.json.encode(one)
        for secret in (b"secret", b"hunter2", b"s3cr3t", b"modulecmd", b"SITE_TOKEN", b"0d000000"):
            assert secret not in kept
        assert any(
            found.name == "FI_PSM3_UUID" and found.value == "***" for found in one.settings
        ) or folder in ("udp", "loss")


def test_one_rank_over_one_nic() -> None:
    first, second = read_all("two-hosts")
    assert first.who == "n1 rank 0"
    assert second.who == "n2 rank 1"
    assert first.identity.hal == "sockets"
    assert first.identity.flavour == "TCP Sockets"
    assert first.identity.build == "IEFS OFA DELTA 8_1_0_0_149-impi"
    assert [(rail.name, rail.mbps, rail.address) for rail in first.identity.rails] == [
        ("hsn0", 10000, "10.20.1.1/24")
    ]
    assert first.program == "IMB-MPI1"
    sent = counter(first, "MPI_Statistics_Summary", "Total_bytes_sent")
    received = counter(second, "MPI_Statistics_Summary", "Total_bytes_recv")
    assert sent == pytest.approx(received, rel=1e-3)
    assert counter(first, "PSM_low-level_protocol_stats", "scb_alloc", "hsn0")


def test_each_rail_has_its_own_counters() -> None:
    one = read_all("two-rails")[0]
    assert [rail.name for rail in one.identity.rails] == ["eth0", "hsn0"]
    eager = [
        counter(one, "PSM_low-level_protocol_stats", "eager_copy_cpu_isend_bytes", nic)
        for nic in ("eth0", "hsn0")
    ]
    assert eager == [150994944, 150994944]


def test_the_last_of_several_blocks_holds() -> None:
    one = read_all("periodic")[0]
    assert one.blocks == 5
    assert counter(one, "MPI_Statistics_Summary", "Total_count_sent") == 60804


def test_a_layout_without_settings_and_an_unknown_counter() -> None:
    """libfabric 1.14 to 1.18: blocks alone; a name with a blank; a counter that nobody knows."""
    one = statistics(ALONE.encode(), "psm3-perf-stat-node7-pid-71")
    assert (one.host, one.pid, one.identity.rank, one.layout) == ("node7", 71, 2, "blocks")
    assert not one.checked
    assert one.complete
    low = one.sections[1]
    assert low.nic == "mlx5_0"
    assert low.counters == {
        "send_rexmit": 4,
        "sdma_compl_slow (*)": 2,
        "a_counter_of_the_future": 9,
    }


def test_a_file_that_ends_early_says_where() -> None:
    whole = (GOLDEN / "two-hosts" / "psm3-perf-stat-n1-pid-10").read_bytes()
    cut = whole[: whole.index(b"eager_cpu_recv_bytes") + 9]
    one = statistics(cut, "cut")
    line = cut.count(b"\n") + 1
    assert not one.complete
    assert one.doubts[0].startswith(f"line {line}: the file is cut off here; expected a counter")
    at_line_end = whole[: whole.rindex(b"\nTime Delta")]
    one = statistics(at_line_end, "cut")
    assert not one.complete
    assert "expected the closing line `Time Delta`" in one.doubts[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ALONE.replace("    send_rexmit 4 (4)", "    send_rexmit 4"), "line 6 is torn: expected a"),
        (ALONE.replace(" MPI_", " MPI?"), "line 2 is torn: expected the line `Time Delta"),
        ("cmdline: a\nenviron:\nSECRET=x\n", "line 3: the file ends without a line `Time Delta"),
        (f"{TABLE}\n", "line 2: expected a row of 4 numbers"),
        (f"{TABLE}\n 1 2 3\n 1 2 3 4\n", "line 2 is torn: expected 4 numbers"),
    ],
)
def test_torn_and_empty_files_are_one_sentence(text: str, said: str) -> None:
    with pytest.raises(BadInput) as caught:
        statistics(text.encode(), "FILE")
    assert str(caught.value).startswith("FILE: ")
    assert said in str(caught.value)
    assert "SECRET" not in str(caught.value)


def test_a_difference_that_does_not_fit_is_doubted() -> None:
    one = statistics(ALONE.replace("4 (4)", "4 (3)").encode(), "FILE")
    assert one.doubts == [
        "line 6: send_rexmit is 4 with a difference of 3, but the previous block has 0"
    ]


def test_a_rank_that_nobody_told_is_unknown() -> None:
    first = read_all("udp")[0]
    assert first.identity.rank is None
    assert first.who == "n1 pid 8073"


def test_the_help_file_is_no_statistics() -> None:
    text = b"Job_information, Mask 0x40:\n  The command line\nMPI_Statistics_Summary, Mask 0x1:\n"
    assert is_help(text)
    assert not is_statistics(text)


def test_the_table_of_psm2() -> None:
    text = f"{TABLE}\n{0:16}{0:16}{0:16}{0:16}\n{5:16}{900:16}{3:16}{1:16}\n"
    one = statistics(text.encode(), "psm2-perf-stat-ep-0x2ff00-pid-9")
    assert (one.library, one.pid, one.blocks, one.seconds, one.checked) == ("psm2", 9, 2, 5, False)
    assert one.sections[0].counters["tx_shm_num"] == 1


def test_settings_are_those_that_the_library_took() -> None:
    lines = (GOLDEN / "invalid-values.txt").read_text(encoding="utf-8").split("\n")
    found = list(settings_of(kept(lines)))
    taken = {one.name: one for one in found if one.who == "n1:rank0"}
    assert taken["PSM3_MTU"].value == "2748"  # it was abc
    assert taken["PSM3_MTU"].default == "65536"
    assert taken["PSM3_FLOW_CREDITS"].value == "32:128:16"
    assert taken["PSM3_MULTI_EP"].forced
    assert {one.value for one in found if one.name == "FI_PSM3_UUID"} == {"***"}


def test_ranks_in_one_text_are_told_apart() -> None:
    text = (GOLDEN / "rail-map.txt").read_text(encoding="utf-8")
    found = {one.label: one for one in identities_of(kept(text.split("\n")))}
    assert set(found) == {"n1:rank0", "n2:rank1"}
    assert [rail.name for rail in found["n2:rank1"].rails] == ["eth0", "hsn0"]
    assert found["n2:rank1"].rank == 1
    assert found["n2:rank1"].location == "/opt/impi/lib/libpsm3-fi.so"


def test_a_log_that_repeats_a_file_is_a_log() -> None:
    whole = (GOLDEN / "two-hosts" / "psm3-perf-stat-n1-pid-10").read_bytes()
    assert not is_statistics(b"# OSU MPI Latency Test v7.4\n8 1.5\n" + whole)


def test_files_of_several_processes_in_one_are_told_apart() -> None:
    whole = (GOLDEN / "two-hosts" / "psm3-perf-stat-n1-pid-10").read_bytes()
    line = whole.count(b"\n") + 1
    with pytest.raises(BadInput, match=f"line {line}: the file of another process begins here"):
        statistics(whole + whole, "FILE")
