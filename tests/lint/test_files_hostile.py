"""Cut, mutated and foreign texts: every check answers, and every place that it names exists."""

import random
from pathlib import Path

import pytest

from wireproof.lint import files
from wireproof.lint.admin import addresses, software
from wireproof.lint.check import by_program
from wireproof.lint.rule import Broken, Kind, Recipe
from wireproof.lint.rules import ADMIN, FILES, book

KINDS: tuple[Kind, ...] = (
    *("script", "unknown", "modprobe", "sysctl", "limits", "ifcfg", "keyfile", "irqbalance"),
    *("kernel-command-line", "repository", "fstab", "hosts"),
)
RECIPES = sorted((Path(__file__).parents[1] / "golden" / "recipes").glob("[af]*/*.txt"))
CODES = {rule.code: rule for rule in book((*FILES, *ADMIN)).rules.values()}
STRANGE = "\x00\t \u2028\ufeff–“'\"\\$`{}()[]<>=|;&#%@*,:/.-9a\u0660"

_CHECKS = (*files.CHECKS, by_program, *addresses.CHECKS, *software.CHECKS)


def answered(text: str, kind: Kind) -> list[Broken]:
    recipe = Recipe("page", kind, tuple(text.split("\n")))
    found = [one for check in _CHECKS for one in check(recipe)]
    for one in found:
        assert one.code in CODES
        assert 1 <= one.line <= (one.last or one.line) <= len(recipe.lines)
        assert 1 <= one.column <= len(recipe.lines[one.line - 1]) + 1
    return found


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_cut_anywhere(path: Path) -> None:
    text = text_of(path)
    for end in range(0, len(text), 13):
        answered(text[:end], "unknown")


@pytest.mark.parametrize("kind", KINDS)
def test_mutated(kind: Kind) -> None:
    source = random.Random(kind)
    texts = [text_of(path) for path in RECIPES]
    for _ in range(60):
        letters = list(source.choice(texts))
        for _ in range(source.randrange(1, 12)):
            letters[source.randrange(len(letters))] = source.choice(STRANGE) * source.randrange(3)
        answered("".join(letters), kind)


@pytest.mark.parametrize("kind", KINDS)
def test_strange_letters_alone(kind: Kind) -> None:
    source = random.Random(1)
    for _ in range(60):
        words = (
            "".join(source.choice(STRANGE) for _ in range(source.randrange(9))) for _ in range(30)
        )
        answered(source.choice(" \n").join(words), kind)


NUMBERS = [
    "9" * 400,
    "-" + "9" * 30,
    "0x",
    "١٢٣",
    "1e9",
    "²",
    "0" * 5000,
    "1/" * 50,
    "::::",
    "..",
    "255.255.255.255.255",
]
FORMS: list[tuple[Kind, str]] = [
    ("modprobe", "options hfi1 krcvqs={} num_vls={} max_mtu={}"),
    ("sysctl", "net.core.rmem_max = {}\nnet.ipv4.tcp_rmem = {} {} {}"),
    ("limits", "* soft memlock {}\n* hard nofile {}"),
    ("ifcfg", "DEVICE=ib0\nIPADDR={}\nNETMASK={}\nPREFIX={}\nMTU={}\nNETWORK={}"),
    ("keyfile", "[infiniband]\nmtu={}\n[ipv4]\naddress1={}/{}\nmethod=manual"),
    ("kernel-command-line", 'GRUB_CMDLINE_LINUX="hugepages={} hugepagesz={} isolcpus={}"'),
    ("fstab", "h:/a /b nfs rsize={} {} {}\n/a *(fsid={})\n/b *(fsid={})"),
    ("hosts", "{} a\n127.0.0.1 {}"),
    (
        "script",
        (
            "ip addr add {}/{} dev eth0\nchdef -t network a net={} mask={}\nip link set eth0 mtu "
            "{}\nulimit -l {}"
        ),
    ),
    ("script", "cpupower frequency-set --min {}GHz --max {}\necho {} > /sys/class/net/ib0/mtu"),
    (
        "script",
        "sysctl -w net.core.rmem_max={}\nsysctl -w net.ipv4.tcp_rmem={} {} {}\nping -c {} {}",
    ),
]


@pytest.mark.parametrize("number", NUMBERS, ids=lambda text: text[:12])
@pytest.mark.parametrize(("kind", "form"), FORMS)
def test_numbers_that_are_none(kind: Kind, form: str, number: str) -> None:
    answered(form.replace("{}", number), kind)
