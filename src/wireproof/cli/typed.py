"""The command line of the subcommand that runs, written anew: what repeats it."""

from __future__ import annotations

import click
from click.core import ParameterSource

from wireproof.model.secrets import masked
from wireproof.workflow.resume import GivenOption

__all__ = ["typed_words"]

_EACH_TIME = frozenset({"out", "resume", "as_json"})
"""Options that each time has its own of."""


def typed_words() -> tuple[str, ...]:
    """The words, options by their long names and paths absolute; secrets are masked."""
    context = click.get_current_context()
    words = context.command_path.split()
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if source is ParameterSource.COMMANDLINE and name in context.params.keys() - _EACH_TIME:
            words += _words(parameter, context.params[name])
    return tuple(masked(" ".join(words)).split(" ")) if _secret(words) else tuple(words)


def _secret(words: list[str]) -> bool:
    text = " ".join(words)
    return masked(text) != text


def _words(parameter: click.Parameter, value: object) -> list[str]:
    if isinstance(parameter, click.Argument):
        return [str(one) for one in value] if isinstance(value, tuple) else [str(value)]
    return GivenOption(name=parameter.name or "", flag=parameter.opts[-1], value=value).words
