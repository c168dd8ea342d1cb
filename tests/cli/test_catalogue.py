"""``wireproof --catalogue DIR``: a site's own rows count, wrong ones do not, and none does half."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import copytree

import pytest
from tests.cli.verb import document, one_sentence, wireproof

from wireproof.atlas.job import atlas_view
from wireproof.audit.job import catalogue
from wireproof.catalogue import catalogue_folder, use_catalogue
from wireproof.experiment.study.library import libraries, library_called
from wireproof.ledger.catalogue import by_driver
from wireproof.ledger.catalogue.read import Family, families
from wireproof.lint.check import lint_text, repaired
from wireproof.lint.tables import listed
from wireproof.locate.causes.rules import rules as causes
from wireproof.model.errors import BadInput
from wireproof.model.site import HEADS, site_texts, use_site
from wireproof.pfc.counters import PfcFamily, by_counters, pausing
from wireproof.pfc.counters import by_driver as pauses_of
from wireproof.physics.table import link_from_name, link_names
from wireproof.verdict.catalogue import findings
from wireproof.workflow.explain import explain

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "catalogue"
FILES = {path.stem: path.read_text("utf-8") for path in EXAMPLES.glob("*.toml")}
SETTING = """[[setting]]
id = "site-exnet"
title = "fast path"
group = "site"
meaning = "The driver sends without a queue."
why = "Otherwise each message waits."
form = "number"
reads = [{ file = "/proc/sys/net/exnet/fast_path" }]
good = { any = "value == 1" }
"""
SYSCTL = """[[folder]]
name = "net.exnet"
names = "fast_path ring_size"

[[sysctl]]
name = "net.exnet.fast_path"
form = "integer"
low = 0
high = 1

[[list]]
name = "services"
names = "exfabd"
"""
PAUSES = '[[pauses]]\nname = "Ex"\ndrivers = ["exfab*"]\nsource = "a file"\n'
MODULE = '[[module]]\nname = "exfab"\nparameters = "queues"\n'


@pytest.fixture(autouse=True)
def _no_site() -> Iterator[None]:
    yield
    use_site(())


def made(tmp_path: Path, text: str, name: str = "x.toml") -> Path:
    folder = tmp_path / "site"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, "utf-8")
    return folder


def refused(folder: Path) -> str:
    """The sentence; after it no row of the folder counts."""
    before = (link_names(), [rule.code for rule in causes()], sorted(findings()))
    with pytest.raises(BadInput) as raised:
        use_catalogue(folder)
    assert site_texts() == ()
    assert (link_names(), [rule.code for rule in causes()], sorted(findings())) == before
    return str(raised.value)


def test_each_kind_of_row_is_added_by_one_file() -> None:
    use_catalogue(EXAMPLES)
    family = by_driver("exfab_core")
    assert family.name == "Example Fabrics Ex100 (nic.toml)"
    link = link_from_name("ex100")
    assert (link.kind, link.rate_bits_per_s) == ("exfab100", 1e11)
    assert link.source == "Ex100 data sheet, page 3 (link.toml)"
    assert causes()[-1].sentence == "{node} {nic} resends packets (cause.toml)"
    assert findings()["site-rack-power"].title.endswith("(finding.toml)")
    assert "exmpi" in libraries()
    assert library_called("exmpi").title == "Ex MPI (knobs.toml)"
    assert [each.title[-13:] for each in explain("EXMPI_EAGER")] == [" (knobs.toml)"]
    assert [each.file for each in atlas_view("exfab100").series] == ["published.toml"]


def test_a_rule_of_the_site_is_found_named_and_mended() -> None:
    use_catalogue(EXAMPLES)
    text = "#!/bin/sh\nmodule load openmpi/4.1.5\nexport SITE_SCRATCH=/tmp/x SITE_SCRATHC=1\n"
    found = {each.code: each for each in lint_text(text, "a.sh")}
    assert set(found) == {"site-old-module", "site-scratch", "variable-misspelt"}
    assert found["site-scratch"].source.endswith("(lint.toml)")
    assert "module load openmpi/5\n" in repaired(text, "a.sh")


def test_the_other_kinds_are_added_too(tmp_path: Path) -> None:
    pair = 'xoff = [["ib/{device}/tx_{p}"], ["rx_{p}"]]\n'
    use_catalogue(made(tmp_path, PAUSES + pair + MODULE))
    assert by_counters(["tx_1"]) is None
    family = pauses_of("exfab_core")
    assert family.name == "Ex (x.toml)"
    line = "options exfab queus=3\n"
    assert [each.code for each in lint_text(line, "/etc/modprobe.d/x.conf")] == [
        "modprobe-unknown-parameter"
    ]


def test_a_setting_is_judged_and_a_cause_may_refer_to_it(tmp_path: Path) -> None:
    cause = (
        FILES["cause"]
        .replace("no_setting", "setting")
        .replace('"a matter of the site\'s switches"', '"site-exnet"')
    )
    use_catalogue(made(tmp_path, SETTING + cause))
    assert catalogue().get("site-exnet").setting.title == "fast path (x.toml)"


def test_names_of_sysctls_and_services_are_known(tmp_path: Path) -> None:
    use_catalogue(made(tmp_path, SYSCTL))
    lines = "net.exnet.ring_sise = 4\nnet.exnet.fast_path = 7\n"
    found = [each.code for each in lint_text(lines, "/etc/sysctl.d/x.conf")]
    assert found == ["sysctl-unknown-name", "sysctl-value-range"]
    assert "exfabd" in listed("services")


@pytest.mark.parametrize(
    ("text", "old", "new", "line"),
    [
        (SYSCTL, "high = 1", "high = -1", 8),
        (SYSCTL, '"services"', '"servces"', 12),
        (SYSCTL, '"net.exnet.fast_path"', '"net.core.rmem_max"', 5),
        (SETTING, '"site-exnet"', '"cpu-governor"', 2),
        (SETTING, '"value == 1"', '"valeu == 1"', 1),
        (SETTING, '"value == 1"', '"value =="', 9),
        (SETTING, "good =", 'effect = { on = "latency", high = nan }\ngood =', 9),
        (SETTING, 'file = "/proc/sys/net/exnet/fast_path"', 'command = ["reboot"]', 1),
        *(
            (SETTING, "good =", f'fix = {{ value = {{ any = "1" }}, {fix} }}\ngood =', line)
            for fix, line in (
                ('command = ["reboot"]', 1),
                ('persist = "/etc/udev/rules.d/90-wireproof.rules"', 9),
                ('persist = "x"', 9),
                ('persist = "/etc/sysctl.d/90-wireproof.conf", line = "kernel.core_pattern=|x"', 9),
                ('persist = "/etc/sysctl.d/90-wireproof.conf", takes = "reboot"', 9),
            )
        ),
        (PAUSES, "drivers =", 'xoff = [["{0}"], []]\ndrivers =', 3),
        (PAUSES, "drivers =", "refresh_ms = -1\ndrivers =", 3),
        (PAUSES, '["exfab*"]', "[]", 3),
        (PAUSES, "drivers =", 'xoff = [[" "], []]\ndrivers =', 3),
        (MODULE, "parameters", "limit = [{name='q', words='w', multiple=0}]\nparameters", 3),
    ],
)
def test_the_other_kinds_name_the_line(
    tmp_path: Path, text: str, old: str, new: str, line: int
) -> None:
    assert f"x.toml, line {line}: " in refused(made(tmp_path, text.replace(old, new, 1)))


@pytest.mark.parametrize("words", ["3", "{ a = 3 }", "{ a = [3] }", "{ a = [''] }", "{ a = [] }"])
def test_wrong_words_of_causes_are_named(tmp_path: Path, words: str) -> None:
    text = FILES["cause"].replace('["retrans"]', '["@a"]')
    assert "x.toml, line " in refused(made(tmp_path, f"words = {words}\n{text}"))


def test_a_mark_at_the_beginning_and_other_line_ends_are_read(tmp_path: Path) -> None:
    text = "\ufeff" + FILES["link"].replace("\n", "\r\n")
    use_catalogue(made(tmp_path, text))
    assert "exfab100" in link_names()
    use_site(())
    said = refused(made(tmp_path, "\ufeff" + "[[link]]\r\ncolour = 1\r\n"))
    assert "x.toml, line 2: 'colour'" in said


def test_the_line_of_a_control_character_and_of_other_bytes_is_named(tmp_path: Path) -> None:
    title = FILES["finding"].replace("the rack is held", "\\u001b]0;x")
    line = title[: title.index("title")].count("\n") + 1
    assert f"x.toml, line {line}: 'title'" in refused(made(tmp_path, title))
    (made(tmp_path, "") / "x.toml").write_bytes(b"# 1\n# caf\xe9\n")
    assert "x.toml, line 2: it is not text in UTF-8" in refused(tmp_path / "site")


def test_what_a_site_adds_to_our_names_keeps_ours(tmp_path: Path) -> None:
    row = '[[library]]\nprefix = "UCX_"\nnames = "SITE_THING"\nsource = "x"\n'
    use_catalogue(made(tmp_path, row))
    text = "#!/bin/sh\nexport UCX_SITE_THING=1 UCX_SITE_THNIG=1 UCX_NET_DEVICE=x\n"
    assert [each.fix.split()[-1] for each in lint_text(text, "a.sh")] == [
        "UCX_NET_DEVICE=x",
        "UCX_NET_DEVICES=x",
    ]


def test_the_result_names_the_files(tmp_path: Path) -> None:
    asked = ("--catalogue", EXAMPLES, "explain", "1GB/s", "--link", "ex100")
    done = wireproof(*asked, "--json")
    assert done.returncode == 0, done.stderr
    assert [os.path.basename(name) for name in document(done)["catalogue"]] == [
        f"{name}.toml" for name in sorted(set(FILES) - {"knobs"})
    ] + ["knobs.toml"]
    assert "1 [[link]]" in done.stderr
    assert "catalogue" not in document(wireproof("explain", "1GB/s", "--link", "edr", "--json"))
    assert wireproof(*asked[2:]).returncode == 2
    copytree(EXAMPLES, tmp_path / "wireproof" / "catalogue")
    home = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert "1 [[link]]" in wireproof(*asked[2:], environment=home).stderr
    variable = {"WIREPROOF_CATALOGUE": str(EXAMPLES)}
    assert wireproof(*asked[2:], environment=variable).returncode == 0


KINDS = {
    "family": ("nic", "drivers"),
    "link": ("link", "protocol"),
    "cause": ("cause", "confidence"),
    "finding": ("finding", "meaning"),
    "rule": ("lint", "why"),
    "knob": ("knobs", "values"),
}


def line_of(text: str, head: str) -> int:
    return text[: text.index(f"[[{head}]]")].count("\n") + 1


@pytest.mark.parametrize(("head", "of"), KINDS.items())
def test_a_wrong_type_is_named_by_file_line_and_field(
    tmp_path: Path, head: str, of: tuple[str, str]
) -> None:
    file, field = of
    lines = [
        f"{field} = true" if line.startswith(f"{field} = ") else line
        for line in FILES[file].splitlines()
    ]
    said = refused(made(tmp_path, "\n".join(lines)))
    if head != "knob":
        assert f"x.toml, line {lines.index(f'{field} = true') + 1}: " in said
    assert field in said


@pytest.mark.parametrize(("head", "of"), KINDS.items())
def test_an_unknown_field_and_a_missing_one_are_named(
    tmp_path: Path, head: str, of: tuple[str, str]
) -> None:
    file, field = of
    line = line_of(FILES[file], head)
    more = FILES[file].replace(f"[[{head}]]", f"[[{head}]]\ncolour = 1", 1)
    said = refused(made(tmp_path, more))
    assert f"x.toml, line {line + 1}: " in said
    assert "colour" in said
    less = [each for each in FILES[file].splitlines() if not each.startswith(f"{field} = ")]
    said = refused(made(tmp_path, "\n".join(less)))
    assert f"x.toml, line {line}: " in said
    assert field in said


@pytest.mark.parametrize("head", [head for head in KINDS if head != "knob"])
def test_a_second_row_of_a_name_is_refused(tmp_path: Path, head: str) -> None:
    text = FILES[KINDS[head][0]]
    folder = made(tmp_path, text)
    made(tmp_path, text, "y.toml")
    assert f"y.toml, line {line_of(text, head)}: the {head} '" in refused(folder)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("cause", 'fix = "Ask', '# fix = "Ask'),
        ("nic", 'source = "exfab_main.c: counted in software"', 'source = ""'),
        ("nic", "port_tx_bytes", "{0}"),
        ("nic", 'tx = "port_tx_bytes"\nrx = "port_rx_bytes"', 'tx = " "\nrx = " "'),
        ("nic", "port_tx_packets", "{nic.name}"),
        ("knobs", '"exmpi"', '"Ex MPI"'),
        ("knobs", '["8192", "65536"]', "[]"),
        ("knobs", "[[knob]]", "[[knob]]\nrails = 0"),
        ("knobs", '"Ex MPI"', '"\\u001b[31m"'),
        ("knobs", "[[knob]]", "[base]\nLD_PRELOAD = 'x.so'\n[[knob]]"),
        ("knobs", "[[knob]]", "looks = [['sh']]\n[[knob]]"),
        ("knobs", "[[knob]]", "[base]\nOMPI_MCA_plm_rsh_agent = 'x'\n[[knob]]"),
        ("knobs", "[[knob]]", "[base]\nFI_PROVIDER_PATH = 'x'\n[[knob]]"),
        ("cause", "confidence = 0.4", "confidence = 0.4\nkinds = ['rack']"),
        ("cause", '["retrans"]', '["@none"]'),
        ("lint", "program =", "likeness = nan\nprogram ="),
        ("lint", "program =", "place = -1\nprogram ="),
        ("link", "exfab100", "edr"),
        ("link", "ex100", "hdr"),
        ("link", "gbps = 100", "gbps = -1"),
        ("link", "gbps = 100", "gbps = nan"),
        ("link", "gbps = 100", "gbps = 1e300"),
        ("link", "exfab100", "Ex Fab"),
        ("cause", "site-shared-uplink", "link-down"),
        ("cause", "{node} {nic} resends", "{node.__class__} resends"),
        ("cause", "{node} {nic} resends", "{0} resends"),
        ("cause", "confidence = 0.4", "confidence = 40"),
        ("cause", 'sign = "grows"', 'sign = "shrinks"'),
        ("finding", "site-rack-power", "off-wire"),
        ("finding", "site-rack-power", "bios-turbo"),
        ("finding", "site-rack-power", "grub-name"),
        ("cause", "site-shared-uplink", "off-wire"),
        ("finding", "the rack is held", "\\u001b]0;x\\u0007"),
        ("lint", "site-old-module", "grub-name"),
        ("nic", 'of = "ethtool"', 'of = "nowhere"'),
        ("nic", '"exfab*"', '"ExFab"'),
        ("nic", "port_rx_bytes", "a b c"),
        ("nic", 'misses = "RDMA"', "refresh_ms = 1e12"),
        ("nic", 'misses = "RDMA"', "width = 0"),
        ("nic", 'misses = "RDMA"', "unit = 0"),
        ("nic", '"exfab*"', '"exfab*", " "'),
        ("nic", '"exfab*"', '"[exfab"'),
        ("nic", "Example Fabrics Ex100", " "),
        ("link", '"ex100"', '"exfab100"'),
        ("cause", "site-shared-uplink", "Site Uplink"),
        ("cause", '["retrans"]', "[]"),
        ("cause", '["retrans"]', '[""]'),
        ("cause", '[{ sign = "grows", words = ["retrans"] }]', "[]"),
        ("cause", "no_setting =", "setting ="),
        ("finding", "site-rack-power", ""),
        ("lint", 'SITE_"', '"'),
        ("lint", 'seen = "{name}={value}"', 'seen = "{name}={valeu}"'),
        ("lint", 'change = "openmpi/5"', "change = '\\9'"),
        ("knobs", '"exmpi"', '"ucx"'),
        ("knobs", "'[0-9]+'", "'[0-9'"),
        ("published", 'link = "exfab100"', 'link = "hdr200000"'),
        ("published", "[[8, 1.9]]", "[[8, 0.0001]]"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, file: str, old: str, new: str) -> None:
    assert old in FILES[file]
    folder = made(tmp_path, FILES["link"], "link.toml") if file == "published" else None
    said = refused(
        made(tmp_path, FILES[file].replace(old, new))
        if folder is None
        else made(tmp_path, FILES[file].replace(old, new), "x.toml")
    )
    assert "x.toml" in said
    assert "\x1b" not in said


@pytest.mark.parametrize(("file", "rows"), [("family", families), ("pauses", pausing)])
def test_the_name_of_our_adapter_is_refused_in_the_file_of_the_site(
    tmp_path: Path, file: str, rows: Callable[[], tuple[Family | PfcFamily, ...]]
) -> None:
    ours = rows()[-1].name
    text = PAUSES.replace('"Ex"', f'"{ours}"').replace("pauses", file)
    assert f"x.toml, line 1: the {file} {ours!r} already exists" in refused(made(tmp_path, text))


def test_a_wrong_file_takes_the_right_ones_with_it(tmp_path: Path) -> None:
    folder = made(tmp_path, FILES["link"], "a.toml")
    made(tmp_path, FILES["cause"].replace("0.4", "4"), "z.toml")
    assert "z.toml, line" in refused(folder)


@pytest.mark.parametrize(
    "text",
    ["[[colour]]\nname = 1\n", "link = 3\n", "[link]\nname = 1\n", "[[link]\n", "\0", "a" * 9],
)
def test_what_is_no_catalogue_is_refused(tmp_path: Path, text: str) -> None:
    assert "x.toml" in refused(made(tmp_path, text))


def test_only_regular_files_of_a_bounded_size_are_read(tmp_path: Path) -> None:
    folder = made(tmp_path, "x", "x.toml")
    file = folder / "x.toml"
    file.write_bytes(b"#" * ((1 << 20) + 1))
    assert "larger than 1 MiB" in refused(folder)
    file.unlink()
    file.symlink_to(EXAMPLES / "link.toml")
    assert "symbolic link" in refused(folder)
    file.unlink()
    os.mkfifo(file)
    assert "named pipe" in refused(folder)
    file.unlink()
    file.write_bytes(b"\xff\xfe")
    assert "UTF-8" in refused(folder)
    file.unlink()
    for number in range(201):
        (folder / f"{number}.toml").write_text("")
    assert "200 files" in refused(folder)


def test_the_command_ends_with_one_sentence(tmp_path: Path) -> None:
    folder = made(tmp_path, "[[link]]\nname = 3\n")
    done = wireproof("--catalogue", folder, "explain", "off-wire")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "x.toml, line 2: " in one_sentence(done)
    assert wireproof("--catalogue", tmp_path / "none", "explain", "off-wire").returncode == 2


def test_the_usual_folder_need_not_exist(tmp_path: Path) -> None:
    assert catalogue_folder(None, {"HOME": str(tmp_path)}) is None
    assert catalogue_folder(None, {}) is None


def test_every_kind_of_row_has_a_reader() -> None:
    from wireproof.catalogue import READERS

    assert set(READERS) == set(HEADS) - {"words"}


def test_a_folder_of_large_files_is_refused(tmp_path: Path) -> None:
    for number in range(10):
        folder = made(tmp_path, f"# {'x' * 1_000_000}\n", f"{number}.toml")
    assert "larger than" in refused(folder)


@pytest.mark.parametrize("head", ["link", "rule", "cause", "finding"])
def test_a_name_that_is_in_a_file_twice_is_refused(tmp_path: Path, head: str) -> None:
    text = next(text for text in FILES.values() if f"[[{head}]]" in text)
    assert use_catalogue(made(tmp_path, text))[head]
    use_site(())
    row = f"[[{head}]]{text.split(f'[[{head}]]')[1]}".partition("\n[[")[0]
    assert "already" in refused(made(tmp_path, f"{text}\n{row}\n"))
