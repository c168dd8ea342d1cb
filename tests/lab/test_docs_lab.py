"""The commands of the pages that need a lab, and what they print."""

from pathlib import Path

import pytest
from tests.docs.desk import Desk
from tests.docs.markdown import Block, blocks, pages


def _of(page: str) -> list[Block]:
    return [block for block in blocks(page) if block.needs]


def _page(page: str) -> object:
    needs = sorted({name for block in _of(page) for name in block.needs})
    return pytest.param(page, marks=[getattr(pytest.mark, name) for name in needs])


@pytest.mark.parametrize("page", [_page(page) for page in pages() if _of(page)])
def test_the_commands_of_a_page_print_what_it_shows(page: str, tmp_path: Path) -> None:
    desk = Desk.laid(tmp_path)
    wrong = [text for block in _of(page) for text in desk.done(block)]
    assert not wrong, "\n".join(wrong)
