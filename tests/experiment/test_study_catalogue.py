"""Catalogues of knobs, ours and a site's: what is tried, what is refused, what is read back."""

from pathlib import Path

import pytest

from wireproof.experiment.study import Configuration, Readback
from wireproof.experiment.study.catalogue import (
    PATTERNS,
    chosen,
    configurations,
    library_of,
    patterns_for,
    points_of,
)
from wireproof.experiment.study.job import library_called
from wireproof.experiment.study.library import libraries
from wireproof.experiment.study.readback import complaint, readbacks, said_in
from wireproof.model.errors import BadInput
from wireproof.options.knobs import names_of, values_of

UCX = """\
[17.8] [n1:12   :0]  parser.c:2355 UCX  WARN  unused environment variable: UCX_FOO (maybe: UCX_TLS?)
[17.8] [n1:12   :0] parser.c:2364 UCX INFO UCX_* env variables: UCX_TLS=tcp,self UCX_RNDV_THRESH=16k
[17.8] [n2:11   :0] parser.c:2364 UCX INFO UCX_* env variables: UCX_TLS=tcp,self UCX_RNDV_THRESH=8k
"""
OFI = """\
libfabric:44:1795:ofi_rxm:tcp:core:fi_param_get_():278<info> variable iface=<not set>
libfabric:44:1795::tcp:core:fi_param_get_():299<warn> failed to parse bool var nodelay=abc
libfabric:44:1795::ofi_rxm:core:fi_param_get_():310<info> read long var buffer_size=8
"""
IMPI = """\
[0] MPI startup(): Incorrect algorithm: ALLREDUCE=99, will be ignored
[0] MPI startup(): I_MPI_ADJUST_ALLREDUCE=99
[0] MPI startup(): I_MPI_EAGER_THRESHOLD environment variable is not supported.
"""


def read_back(library: str, text: str, knob: str, value: str) -> list[Readback]:
    known = library_called(library)
    one = next(each for each in known.knob if each.name == knob)
    return readbacks(said_in(text, known), one, Configuration(knob=knob, value=value))


@pytest.mark.parametrize("name", ["impi", "ofi", "psm3", "ucx"])
def test_every_catalogue_of_ours_is_whole(name: str) -> None:
    library = library_called(name)
    assert library.id == name
    names = [knob.name for knob in library.knob]
    assert len(set(names)) == len(names)
    for knob in library.knob:
        assert knob.moves, knob.name
        assert knob.source, knob.name
        assert knob.read, knob.name
        assert knob.name.startswith(library.prefixes)
    found, _ = configurations(chosen(library, (), {}), ["a0", "b1"], {})
    assert len(found) > 5
    assert set(libraries()) == {"impi", "ofi", "psm3", "ucx"}


def test_placeholders_are_the_rails_of_the_hosts() -> None:
    library = library_called("psm3")
    knobs = chosen(library, ("PSM3_NIC", "PSM3_MULTIRAIL_MAP"), {})
    base = {"PSM3_NIC": "hsn0", "PSM3_HAL": "sockets"}
    found, left = configurations(knobs, ["hsn0", "hsn1"], base)
    assert [one.shown for one in found] == ["base", "PSM3_NIC=hsn1", "PSM3_MULTIRAIL_MAP=hsn0,hsn1"]
    assert found[2].variables == {
        "PSM3_NIC": "@(hsn0|hsn1)",
        "PSM3_MULTIRAIL": "1",
        "PSM3_MULTIRAIL_MAP": "hsn0,hsn1",
    }
    assert found[2].whole.startswith("PSM3_MULTIRAIL_MAP=hsn0,hsn1 with PSM3_NIC=@(hsn0|hsn1)")
    rails = configurations(
        chosen(library_called("ucx"), ("UCX_MAX_RNDV_RAILS",), {}), ["a", "b"], {}
    )
    assert {one.variables.get("UCX_NET_DEVICES") for one in rails[0][1:]} == {"a,b"}
    assert left == ["PSM3_NIC=hsn0 is left out: every run has it."]
    with pytest.raises(BadInput, match="needs 2 rails, and the hosts have only hsn0"):
        configurations(knobs[1:], ["hsn0"], base)


@pytest.mark.parametrize(
    ("names", "values", "says"),
    [
        (("PSM3_MUT",), {}, "did you mean PSM3_MTU"),
        ((), {"PSM3_MTU": ("abc",)}, "'abc' is not a valid value: largest packet"),
        ((), {"PSM3_MTU": ("1", "1")}, "different values"),
        ((), {"PSM3_MTU": ("1\n2",)}, "is not a valid value"),
        ((), {"LD_PRELOAD": ("/tmp/x.so",)}, "has no knob"),
    ],
)
def test_unknown_knobs_and_values(
    names: tuple[str, ...], values: dict[str, tuple[str, ...]], says: str
) -> None:
    with pytest.raises(BadInput, match=says):
        chosen(library_called("psm3"), names, values)


def test_only_what_is_asked_for_is_varied() -> None:
    library = library_called("psm3")
    assert [one.name for one in chosen(library, (), {"PSM3_MTU": ("4096",)})] == ["PSM3_MTU"]
    both = chosen(library, ("PSM3_HAL",), {"PSM3_MTU": ("4096",)})
    assert [(one.name, one.values[0]) for one in both] == [
        ("PSM3_HAL", "any"),
        ("PSM3_MTU", "4096"),
    ]
    assert patterns_for(both) == ("latency", "pingpong", "stream", "saturation", "ring")
    with pytest.raises(BadInput, match=r"--over: there is no 'strem'; known are latency"):
        points_of(("strem",), 2)
    assert {points_of((name,), 4)[0].pattern for name in PATTERNS} >= {"ring", "stream"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is missing"),
        ('id = "x"\ntitle = "X"\nprefixes = []\nknob = []', "knob: expected a list"),
        ("= 1", "not TOML"),
        ("[[knob]]\nname = 'A'", "is missing"),
        ("extra = 1", "is not known"),
    ],
)
def test_a_sites_own_file_with_a_mistake(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "own.toml"
    file.write_text(text)
    with pytest.raises(BadInput, match=says) as error:
        library_called(str(file))
    assert str(file) in str(error.value)


OWN = """\
id = "own"
title = "Own"
prefixes = ["OWN_"]
[says]
line = '{line}'
[[knob]]
name = "{name}"
what = "a knob"
values = ["1"]
source = "us"
valid = '{valid}'
moves = ["{moves}"]
read = [{{ of = "{of}" }}]
"""
GOOD = {"line": "(?P<value>.)", "name": "OWN_A", "valid": "[0-9]", "moves": "ring", "of": "line"}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"line": "("}, "line 4: 'says': .* not a regular expression"),
        ({"line": "x"}, "no group"),
        ({"name": "PATH TO"}, "not a variable's name"),
        ({"valid": "["}, "line 11: 'valid': .* not a regular expression"),
        ({"moves": "rings"}, "no pattern 'rings'"),
        ({"of": "lines"}, "line 13: 'read' has the kind 'lines'"),
    ],
)
def test_a_mistake_in_a_knob_is_named(wrong: dict[str, str], says: str) -> None:
    assert library_of(OWN.format(**GOOD), "own.toml").knob[0].name == "OWN_A"
    with pytest.raises(BadInput, match=says):
        library_of(OWN.format(**{**GOOD, **wrong}), "own.toml")


def test_the_example_of_a_site_is_whole() -> None:
    file = Path(__file__).resolve().parents[2] / "examples" / "study" / "openmpi-tcp.toml"
    library = library_called(str(file))
    text = "[n1:498] btl_tcp_links=2 (environment)\n[n1:498] btl_tcp_sndbuf=0 (default)\n"
    links = next(one for one in library.knob if one.name.endswith("_links"))
    (found,) = readbacks(said_in(text, library), links, Configuration(knob=links.name, value="2"))
    assert (found.rank, found.seen, found.agrees) == ("n1:498", "2", True)


@pytest.mark.parametrize("table", ["base", "asks", "counts"])
def test_a_file_sets_no_variable_that_starts_programs(tmp_path: Path, table: str) -> None:
    file = tmp_path / "own.toml"
    good = OWN.format(**{**GOOD, "name": "UCX_A"})
    file.write_text(good)
    assert library_called(str(file)).knob[0].name == "UCX_A"
    file.write_text(f"{good}\n[{table}]\nLD_PRELOAD = '/tmp/x.so'\n")
    with pytest.raises(BadInput, match="'LD_PRELOAD' is refused"):
        library_called(str(file))
    file.write_text(f'looks = [["touch", "/tmp/x"]]\n{good}')
    with pytest.raises(BadInput, match="must not start commands"):
        library_called(str(file))


def test_queue_pairs_are_seen_beside_the_mode() -> None:
    text = "0: rxe0: pd 1 cq 2 qp 3 cm_id 0 mr 1 ctx 1 srq 0\n1: mlx5_0: pd 9 cq 8 qp 70 cm_id 1\n"
    (found,) = read_back("psm3", text, "PSM3_RDMA", "1")
    assert found.seen == "mlx5_0: pd 9 cq 8 qp 70,rxe0: pd 1 cq 2 qp 3"
    assert found.agrees is None


def test_no_such_study(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="did you mean psm3"):
        library_called("psm")
    with pytest.raises(BadInput, match="cannot be read"):
        library_called(str(tmp_path / "none.toml"))
    (tmp_path / "latin.toml").write_bytes(b"id = '\xff'")
    with pytest.raises(BadInput, match="not text in UTF-8"):
        library_called(str(tmp_path / "latin.toml"))


def test_what_ucx_lists_as_used() -> None:
    found = read_back("ucx", UCX, "UCX_RNDV_THRESH", "16k")
    assert [(one.rank, one.seen, one.agrees) for one in found] == [
        ("n1:12", "16k", True),
        ("n2:11", "8k", False),
    ]
    assert read_back("ucx", UCX, "UCX_RNDV_THRESH", "16384")[0].agrees is True
    assert not read_back("ucx", UCX, "UCX_ZCOPY_THRESH", "1")


def test_what_libfabric_has_read_is_not_what_was_asked() -> None:
    (found,) = read_back("ofi", OFI, "FI_OFI_RXM_BUFFER_SIZE", "8k")
    assert (found.seen, found.agrees) == ("8", False)
    (found,) = read_back("ofi", OFI, "FI_TCP_NODELAY", "0")
    assert (found.seen, found.agrees) == ("failed to parse bool var", False)
    assert complaint(OFI, library_called("ofi")) == "failed to parse bool var nodelay=abc"


def test_what_intel_mpi_ignores() -> None:
    found = read_back("impi", IMPI, "I_MPI_ADJUST_ALLREDUCE", "99")
    assert [one.agrees for one in found] == [True, False]
    (found,) = read_back("impi", IMPI, "I_MPI_EAGER_THRESHOLD", "8192")
    assert (found.seen, found.agrees) == ("not supported", False)


def test_a_secret_is_not_kept() -> None:
    text = (
        "[1.0] [n1:1 :0] parser.c:1 UCX INFO UCX_* env variables: UCX_API_TOKEN=abcdef UCX_TLS=tcp"
    )
    lines = said_in(text, library_called("ucx"))["used"]
    assert ("n1:1", "UCX_API_TOKEN", "***") in lines
    assert "abcdef" not in str(lines)


def test_texts_of_the_command_line() -> None:
    assert names_of("a, b,a", "--knobs") == ("a", "b")
    assert names_of("", "--knobs") == ()
    assert values_of(["X=1,2", "Y=a,b|c"]) == {"X": ("1", "2"), "Y": ("a,b", "c")}
    for wrong in (["X"], ["X="], ["=1"], ["X=1,,2"], ["X=1", "X=2"]):
        with pytest.raises(BadInput, match="--values"):
            values_of(wrong)
    with pytest.raises(BadInput, match="--knobs"):
        names_of("a,,b", "--knobs")


def test_a_variable_explained_is_no_complaint() -> None:
    """PSM3 lists its variables before it starts; the explanation of one holds "failures"."""
    explained = "Help: Max number of consecutive reg_mr failures"
    psm3 = library_called("psm3")
    assert complaint(explained, psm3) == ""
    assert complaint(f"{explained}\nrank 1 aborted", psm3) == "rank 1 aborted"
