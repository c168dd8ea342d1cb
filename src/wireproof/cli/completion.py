"""``wireproof completion SHELL``: the script that completes subcommands, options and values."""

from __future__ import annotations

import click

from wireproof.model.errors import BadInput

__all__ = ["codes", "command", "links", "profiles"]

SHELLS = ("bash", "zsh", "fish")


@click.command("completion", params=[click.Argument(["shell"], type=click.Choice(SHELLS))])
@click.pass_context
def command(context: click.Context, /, shell: str) -> int:
    """Print the script that completes subcommands, options, links, profiles and codes.

    \b
    bash   wireproof completion bash > ~/.local/share/bash-completion/completions/wireproof
    zsh    wireproof completion zsh  > ~/.zfunc/_wireproof     (with ~/.zfunc in fpath)
    fish   wireproof completion fish > ~/.config/fish/completions/wireproof.fish
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    if found is None:
        raise BadInput(f"there is no completion for {shell}: there is {', '.join(SHELLS)}.")
    group = context.find_root().command
    click.echo(found(group, {}, "wireproof", "_WIREPROOF_COMPLETE").source())
    return 0


def links(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    """The links that begin so."""
    from wireproof.physics.links import link_names

    return [name for name in link_names() if name.startswith(typed)]


def codes(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    """The codes, settings and rules that begin so."""
    from wireproof.workflow.explain import names

    return [name for name in names() if name.startswith(typed)]


def profiles(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    """The profiles of a check that begin so."""
    return [name for name in ("quick", "standard", "acceptance") if name.startswith(typed)]
