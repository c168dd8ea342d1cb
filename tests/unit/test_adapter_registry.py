"""The registry of the tools: every name and every sign once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from wireproof.adapters.registry import MODULES, adapters, registered


def test_every_module_gives_an_adapter() -> None:
    assert len(adapters()) == len(MODULES)
    assert registered(adapters()) == adapters()


def test_a_second_adapter_of_a_name_is_refused() -> None:
    with pytest.raises(ValueError, match="two adapters are called 'osu'"):
        registered((*adapters(), replace(adapters()[0], signs=())))


def test_a_sign_of_another_tool_is_refused() -> None:
    with pytest.raises(ValueError, match="have the sign"):
        registered((*adapters(), replace(adapters()[0], name="other")))
