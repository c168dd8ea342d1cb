"""Every command of the pages that can be run on any machine, and what it prints."""

from pathlib import Path

import pytest
from tests.docs.desk import Desk
from tests.docs.markdown import Block, blocks, pages

RUN = ("console", "sh", "python", "sql")


def _here(block: Block) -> bool:
    return "file" in block.note or (
        block.tag in RUN and not block.needs and not {"not run:", "read as"} & block.note.keys()
    )


PAGES = [page for page in pages() if any(one.tag in RUN and _here(one) for one in blocks(page))]


@pytest.mark.engine
@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_print_what_it_shows(page: str, tmp_path: Path) -> None:
    desk = Desk.laid(tmp_path)
    wrong = [text for block in blocks(page) if _here(block) for text in desk.done(block)]
    assert not wrong, "\n".join(wrong)
