"""``wireproof resume FOLDER``: measure what is missing of a check that was broken off, and judge the whole."""

from __future__ import annotations

import os
from pathlib import Path

import click

__all__ = ["command"]

_DROPPED = ("--out", "--seed", "--resume", "--json")


def _again(argv: list[str], folder: Path, seed: int, *, as_json: bool) -> list[str]:
    """The words of the first time, with this folder and that seed."""
    words: list[str] = []
    skip = False
    for word in argv:
        name = word.partition("=")[0]
        if skip:
            skip = False
        elif name in _DROPPED:
            skip = name in ("--out", "--seed") and "=" not in word
        else:
            words.append(word)
    return [*words, "--resume", "--out", str(folder), "--seed", str(seed), *(["--json"] if as_json else [])]


@click.command("resume")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="one JSON document on stdout.")
@click.pass_context
def command(context: click.Context, folder: Path, as_json: bool) -> int:
    """Go on with the check in FOLDER: hosts that were lost are tried again, only what is missing is measured.

    The options, the seed and the WIREPROOF_* variables of the first time count. The whole is judged anew.
    """
    from wireproof.cli.delivery import say
    from wireproof.cli.resuming import recall

    folder = folder.absolute()
    asked = recall(folder)
    words = _again(asked.argv, folder, asked.seed, as_json=as_json)
    for name in [name for name in os.environ if name.startswith("WIREPROOF_") and name not in asked.environment]:
        del os.environ[name]
    os.environ.update(asked.environment)
    if Path(asked.folder).is_dir():
        os.chdir(asked.folder)  # paths of the first time, wireproof.toml among them, were seen from there
    say(f"wireproof {' '.join(words)}")
    group = context.find_root().command
    assert isinstance(group, click.Group)  # noqa: S101  the program's own
    with group.make_context("wireproof", list(words), obj={"argv": words}) as inner:
        return int(group.invoke(inner) or 0)
