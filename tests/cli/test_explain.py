"""``wireproof explain CODE``: findings, causes, rules of lint and settings by one command."""

from __future__ import annotations

import pytest
from tests.cli.verb import document, one_sentence, wireproof


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("off-wire", ("Do next:",)),
        ("mtu-small", ("Setting:", "mtu: MTU of the interface (wireproof explain mtu)")),
        ("irqbalance-hintpolicy", ("Setting:", "wireproof explain irqbalance")),
        ("mtu", ("Fix:", "Undo:", "Rules of lint:", "command-mtu", "Causes:", "mtu-small")),
        ("TCP_RMEM", ("tcp-rmem: TCP receive buffer", "Should be:", "Expected effect:")),
    ],
)
def test_each_kind_of_code_is_explained_and_points_at_the_others(
    code: str, said: tuple[str, ...]
) -> None:
    done = wireproof("explain", code)
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert not [words for words in said if words not in text]


def test_a_rule_and_a_setting_of_one_name_are_both_explained() -> None:
    found = document(wireproof("explain", "tuned-profile", "--json"))
    assert [one["code"] for one in found["rules"]] == ["tuned-profile"]
    assert [one["id"] for one in found["settings"]] == ["tuned-profile"]
    assert found["findings"] == []


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("of-wire", "off-wire"),
        ("mtu-smal", "mtu-small"),
        ("shebang-optoin", "shebang-option"),
        ("cpu-governer", "cpu-governor"),
    ],
)
def test_the_nearest_of_all_kinds_is_suggested(typed: str, meant: str) -> None:
    done = wireproof("explain", typed)
    assert done.returncode == 2
    assert meant in one_sentence(done)
