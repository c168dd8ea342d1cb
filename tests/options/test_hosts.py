"""Node sets: operators, groups of a site's own configuration, files; and what must be one
sentence.
"""

import os
import time
from pathlib import Path

import pytest
from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet
from ClusterShell.NodeUtils import GroupResolverConfig
from hypothesis import given
from hypothesis import strategies as st

from wireproof.model.errors import BadInput
from wireproof.options import hosts
from wireproof.options.hosts import parse_hosts

GROUPS = """\
rack1: n[1-4]
rack2: n[5-8]
gpu: n4,n8
spare: @rack2!n5
loop: @loop
million: n[0-999999]
empty:
strange: n1;reboot
all: @rack1,@rack2
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site with groups in a file."""
    (tmp_path / "groups").write_text(GROUPS, encoding="utf-8")
    config = tmp_path / "groups.conf"
    config.write_text(
        f"[Main]\ndefault: local\n[local]\nmap: sed -n 's/^$GROUP: *//p' {tmp_path}/groups\n"
        f"list: sed -n 's/^\\([a-z0-9]*\\):.*/\\1/p' {tmp_path}/groups\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(hosts, "_resolver", lambda: GroupResolverConfig(str(config)))
    return tmp_path


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("n[1-4]!n3", "n1 n2 n4"),
        ("n[1-4]&n[3-9]", "n3 n4"),
        ("n[1-3]^n[3-4]", "n1 n2 n4"),
        ("n9,n[1-3]!n2,n2", "n9 n1 n3 n2"),
        ("n[1-3,5]!n[1,5]", "n2 n3"),
        ("rack[1-2]n[01-03]!rack2n[01-02]", "rack1n01 rack1n02 rack1n03 rack2n03"),
        (" n2 , n1 ", "n2 n1"),
    ],
)
def test_operators_from_left_to_right(text: str, hosts: str) -> None:
    assert parse_hosts(text) == tuple(hosts.split())


@given(
    st.lists(
        st.tuples(
            st.sampled_from(",!&^"), st.sampled_from(["a[1-4]", "a3", "a[2-6/2]", "b1", "a[1,4]"])
        ),
        min_size=1,
        max_size=6,
    )
)
def test_operators_are_those_of_clustershell(steps: list[tuple[str, str]]) -> None:
    text = "".join(operator + item for operator, item in steps)[1:]
    expected = set(map(str, NodeSet(text, resolver=RESOLVER_NOGROUP)))
    if expected:
        assert set(parse_hosts(text, repeats=True)) == expected
    else:
        with pytest.raises(BadInput, match="leaves no host"):
            parse_hosts(text, repeats=True)


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("@rack1", "n1 n2 n3 n4"),
        ("@local:rack1", "n1 n2 n3 n4"),
        ("@rack1&@gpu", "n4"),
        ("@rack2,@gpu", "n5 n6 n7 n8 n4"),
        ("@spare", "n6 n7 n8"),
        ("@all!@gpu", "n1 n2 n3 n5 n6 n7"),
        ("x1,@gpu", "x1 n4 n8"),
    ],
)
def test_groups(text: str, hosts: str) -> None:
    assert parse_hosts(text) == tuple(hosts.split())


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("@rack9", "@rack9 is not a known group of hosts: there are @all, @empty, @gpu"),
        ("@empty", "@empty is not a known group"),
        ("@other:rack1", "cannot be read|no group is configured"),
        ("@million", "more than 100000 hosts"),
        ("@loop", "contains itself"),
        ("@strange", "is not a host name"),
        ("@", "is not a group of hosts"),
        ("@$(id)", "is not a group of hosts"),
        ("@rack1;id", "is not a group of hosts"),
        ("@rack1!@rack1", "leaves no host"),
        ("n1!", "empty item"),
        ("&n1", "empty item"),
        ("n[0-999999]!n[1-999999]", "more than 100000"),
    ],
)
def test_what_is_no_set_is_one_sentence(text: str, words: str) -> None:
    with pytest.raises(BadInput, match=words) as caught:
        parse_hosts(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_list_of_any_length_is_split_in_linear_time() -> None:
    began = time.process_time()
    with pytest.raises(BadInput):
        parse_hosts("n!" + "1," * 250_000)
    assert time.process_time() - began < 5.0


def test_no_configuration_is_read_without_an_at_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    def never() -> None:
        raise AssertionError("the site's groups were asked for")

    monkeypatch.setattr(hosts, "_resolver", never)
    assert parse_hosts("n[1-2]!n1,n3") == ("n2", "n3")


def test_a_file_has_one_set_a_line(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text(
        "# my nodes\nn[1-3]!n2  # without the bad one\r\n\nm1.example:4\nm2 slots=4 max_slots=8\n",
        "utf-8",
    )
    assert parse_hosts(f"file:{hosts}") == ("n1", "n3", "m1.example", "m2")


def test_a_node_file_names_a_host_once_for_each_slot(tmp_path: Path) -> None:
    hosts = tmp_path / "nodefile"
    hosts.write_text("n2\nn2\nn1\nn1\n", encoding="utf-8")
    assert parse_hosts(f"file:{hosts}") == ("n2", "n1")
    assert parse_hosts(f"file:{hosts}", repeats=True) == ("n2", "n2", "n1", "n1")


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    (tmp_path / "empty").write_text("# nothing\n", encoding="utf-8")
    (tmp_path / "option").write_text("-oProxyCommand=x\n", encoding="utf-8")
    (tmp_path / "many").write_text(
        "\n".join(f"n{number}" for number in range(100_002)), encoding="utf-8"
    )
    os.mkfifo(tmp_path / "pipe")
    sentences = {
        "binary": "not a host name",
        "empty": "names no hosts",
        "option": "not a host name",
    }
    sentences |= {
        "many": "more than",
        "pipe": "a named pipe",
        "absent": "No such file",
        "": "a folder",
    }
    for name, words in sentences.items():
        with pytest.raises(BadInput, match=words):
            parse_hosts(f"file:{tmp_path}/{name}")
    with pytest.raises(BadInput, match="cannot be read"):
        parse_hosts("file:a\0b")


def test_example_groups_of_a_virtual_environment_are_not_the_site_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pip installs ClusterShell's example behind the site's configuration: its @all replaced it."""
    for name, host in (("site", "n1"), ("venv/etc", "example4")):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "groups.conf").write_text(
            f"[Main]\ndefault: e\n[e]\nmap: echo {host}\nall: echo {host}\nlist: echo all\n"
        )
    places = [str(tmp_path / name / "groups.conf") for name in ("site", "venv/etc")]
    monkeypatch.setattr("ClusterShell.Defaults.config_paths", lambda name: places)
    monkeypatch.setattr(hosts, "_refuse_foreign", lambda folder: None)
    monkeypatch.setattr("sys.prefix", str(tmp_path / "venv"))
    assert parse_hosts("@all") == ("n1",)
