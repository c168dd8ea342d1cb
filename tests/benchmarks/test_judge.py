"""The corpus of the judge's benchmark: of its size, no two files alike, every file with a result in
it.
"""

import os
from pathlib import Path

from benchmarks.judge import corpus, memory_of

from wireproof.logs.readers import read


def test_files_of_the_size_asked_for(tmp_path: Path) -> None:
    names = corpus(tmp_path, 12, 3000)
    texts = [Path(name).read_bytes() for name in names]
    assert len(set(texts)) == 12
    assert all(3000 <= len(text) <= 3200 for text in texts)


def test_files_hold_results(tmp_path: Path) -> None:
    (name,) = corpus(tmp_path, 1, 10_000)
    assert read(Path(name).read_bytes(), name)


def test_memory_of_a_process() -> None:
    assert memory_of(os.getpid()) > 1 << 20
    assert memory_of(1 << 30) == 0
