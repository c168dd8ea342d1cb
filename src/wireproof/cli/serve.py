"""``wireproof serve``: a history as a local page."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import click

from wireproof.cli.declare import file, flag, number, text

__all__ = ["command"]

OPTIONS = (
    click.Argument(["root"], type=click.Path(path_type=Path), metavar="HISTORY"),
    number("--port", 0, 65535, "port to listen on; 0 takes a free one.", default=0),
    text("--listen", "ADDRESS", "address to listen on.", default="127.0.0.1", show_default=True),
    file("--topology", "topology that the map is drawn by, in place of that of the results."),
    flag("--open open_", "open the page in a browser."),
)


@click.command("serve", params=[*OPTIONS])
def command(root: Path, port: int, listen: str, topology: Path | None, open_: bool) -> int:
    """Show a history as a local page: cluster map, trends, runs, comparisons.

    HISTORY is a folder that `check --history HISTORY` keeps results in. The page is read only and
    answers to this machine alone (127.0.0.1). Its address, printed on stdout, holds a token that
    is a new one with each start: who has the address sees the page. Ctrl-C ends it. From another
    machine: ssh -L 8080:127.0.0.1:PORT HOST, and the address with port 8080.
    """
    from wireproof.cli.console import Console, remark
    from wireproof.workflow.serve.server import ServeSpecification, open_server

    asked = ServeSpecification(root=root, listen=listen, port=port, topology=topology)
    with open_server(asked, Console()) as server:
        remark(f"serving {server.pages.summary()}; Ctrl-C ends it.")
        click.echo(server.address)
        with _browser(server.address) if open_ else contextlib.nullcontext():
            try:
                server.serve_forever()
            except KeyboardInterrupt:
                remark("ended.")
    return 0


@contextlib.contextmanager
def _browser(address: str) -> Iterator[None]:
    """The page in a browser, by a file of our own: others see what a browser is started with."""
    import shutil
    import webbrowser

    from wireproof.cli.console import say
    from wireproof.files.private import private_file

    text = f'<!doctype html><meta http-equiv="refresh" content="0; url={address}">'
    path = private_file("wireproof-", "open.html", text.encode())
    try:
        if not webbrowser.open(path.as_uri()):
            say("no browser was found: open the address yourself.")
        yield
    finally:
        shutil.rmtree(path.parent, ignore_errors=True)
