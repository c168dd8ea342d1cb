"""Settings: strings become typed values that remember their origin; bad ones say what is
allowed.
"""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof.model.errors import BadInput
from wireproof.options.hosts import check_nic, parse_hosts
from wireproof.options.resolve import SETTINGS, read_file, resolve
from wireproof.options.sizes import (
    LARGEST,
    format_size,
    parse_bytes,
    parse_duration,
    parse_size,
    parse_sizes,
)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("8", 8),
        ("8B", 8),
        ("1kB", 1000),
        ("1KiB", 1024),
        ("4MiB", 4 << 20),
        ("1MB", 10**6),
        ("1 GiB", 1 << 30),
    ],
)
def test_sizes_use_decimal_and_binary_units(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text", ["", "-1", "1.5KiB", "1K", "1M", "1Mb", "1mb", "8 8", "0x10", "٣", "9" * 40, "1TiB"]
)
def test_a_bad_size_is_told_what_is_allowed(text: str) -> None:
    with pytest.raises(BadInput, match="KiB, MB, MiB"):
        parse_size(text)


def test_the_largest_size_is_named() -> None:
    with pytest.raises(BadInput, match="1GiB"):
        parse_size("2GiB")


def test_a_range_doubles_and_starts_anywhere() -> None:
    assert parse_sizes("0:8") == (0, 1, 2, 4, 8)
    assert parse_sizes("3:20") == (3, 6, 12)
    assert parse_sizes("0,8,64KiB,8") == (0, 8, 65536)
    assert parse_sizes("0:4MiB") == (0, *(1 << power for power in range(23)))


@pytest.mark.parametrize("text", ["", ",", "8,,9", "8:4", ":", "8:", "1:2:3"])
def test_a_bad_size_list_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        parse_sizes(text)


@given(st.integers(0, LARGEST))
def test_a_formatted_size_reads_back(size: int) -> None:
    assert parse_size(format_size(size)) == size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("500ms", 0.5), ("2s", 2), ("1.5", 1.5), ("10min", 600), ("2m", 120), ("1h", 3600)],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "0", "-1s", "1y", "ten", "1e9", "999999h", "nan", "inf"])
def test_a_bad_duration_is_told_what_is_allowed(text: str) -> None:
    with pytest.raises(BadInput, match=r"500ms|at most"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("n2,n1", ("n2", "n1")),
        ("n[1-3]", ("n1", "n2", "n3")),
        ("rack[1-2]n[01-02]", ("rack1n01", "rack1n02", "rack2n01", "rack2n02")),
        ("a.example.org, 10.0.0.1", ("a.example.org", "10.0.0.1")),
        ("n[1-5/2],m", ("n1", "n3", "n5", "m")),
    ],
)
def test_hosts_keep_the_order_given(text: str, hosts: tuple[str, ...]) -> None:
    assert parse_hosts(text) == hosts


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "n1,,n2",
        "n1,",
        "-oProxyCommand=x",
        "n1;reboot",
        "$(id)",
        "n1 n2",
        "n[1",
        "n]1[",
        "n[3-1]",
        "n[1-3/0]",
        "@no-such-group",
        "n[1-3]!",
        "n1\nn2",
        "../n1",
        "n\x00",
        "é",
    ],
)
def test_what_is_no_host_list_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="host"):
        parse_hosts(text)


@pytest.mark.parametrize(
    "text", ["n[0-999999999]", "n[0-999]m[0-999]", ",".join(f"n{i}x" for i in range(100_001))]
)
def test_too_many_hosts_are_refused_before_they_are_expanded(text: str) -> None:
    with pytest.raises(BadInput, match="100000"):
        parse_hosts(text)


def test_a_host_named_twice_is_refused_unless_it_was_meant() -> None:
    with pytest.raises(BadInput, match="n1 is named twice"):
        parse_hosts("n1,n[1-2]")
    assert parse_hosts("n1,n1", repeats=True) == ("n1", "n1")


@given(st.text(max_size=40))
def test_no_host_list_crashes_or_lets_an_option_through(text: str) -> None:
    try:
        hosts = parse_hosts(text)
    except BadInput:
        return
    assert all(host[0].isalnum() and host.isascii() and "/" not in host for host in hosts)


@pytest.mark.parametrize("name", ["eth0", "ib0", "mlx5_0:1", "enp3s0f0np0", "bond0.100"])
def test_nic_names(name: str) -> None:
    assert check_nic(name) == name


@pytest.mark.parametrize("name", ["", "-a", "eth0 eth1", "eth0,eth1", "../x", "a" * 80])
def test_bad_nic_names(name: str) -> None:
    with pytest.raises(BadInput, match="NIC"):
        check_nic(name)


def test_the_strongest_origin_wins_and_is_remembered(tmp_path: Path) -> None:
    path = tmp_path / "wireproof.toml"
    path.write_text('mpi = "intel"\nwindow = 8\n# a comment\nsizes = ["0", "8"]\nformula = "osu"\n')
    settings = resolve(
        {"mpi": "openmpi", "window": None},
        {"WIREPROOF_WINDOW": "16", "HOME": "/x"},
        read_file(path),
    )
    assert (settings.mpi, settings.origin("mpi"), settings.source("mpi")) == (
        "openmpi",
        "option",
        "--mpi",
    )
    assert (settings.window, settings.source("window")) == (16, "WIREPROOF_WINDOW")
    assert (settings.sizes, settings.source("sizes")) == ((0, 8), "wireproof.toml:4")
    assert settings.origin("formula") == "file"
    assert settings.origin("profile") == "default"
    assert settings.origins() == {
        "mpi": "option --mpi",
        "window": "environment WIREPROOF_WINDOW",
        "sizes": "file wireproof.toml:4",
        "formula": "file wireproof.toml:5",
    }


def test_a_bad_word_is_answered_by_the_nearest() -> None:
    with pytest.raises(BadInput, match=r"WIREPROOF_FORMULA.*did you mean robust"):
        resolve({}, {"WIREPROOF_FORMULA": "robus"}, {})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("wimdow = 3", r"wireproof.toml:1.*did you mean window"),
        ("a = ", "not TOML"),
        ("[hosts]\na=1", "text, a number"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "wireproof.toml"
    path.write_text(text)
    with pytest.raises(BadInput, match=told):
        read_file(path)


def test_a_file_that_is_no_text_or_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match="not text"):
        read_file(tmp_path / "x")
    with pytest.raises(BadInput, match="cannot be read"):
        read_file(tmp_path / "none")


def test_every_default_is_what_its_own_parser_would_accept() -> None:
    for name, declared in SETTINGS.items():
        if isinstance(declared.default, str) and declared.default:
            assert declared.parse(declared.default) == declared.default, name


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("18560", 18560),
        ("18560B", 18560),
        ("18,560", 18560),
        ("48,800 bytes", 48800),
        ("18.56kB", 18560),
        ("495GB", 495 * 10**9),
        ("1.5TB", 1500 * 10**9),
        ("0.5TiB", 1 << 39),
    ],
)
def test_memory_is_read_as_people_write_it(text: str, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize(
    "text", ["", "-1", "18560b", "18,56", "1,2345", "0.3", "495g", "9XB", "1e9"]
)
def test_what_is_no_memory_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="is not understood"):
        parse_bytes(text)
