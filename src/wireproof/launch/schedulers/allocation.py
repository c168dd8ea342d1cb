"""An allocation of a scheduler, and how its parts are read from an environment.

Others wrote the environment: an impossible value is refused with a sentence, never used in an
argument list.
"""

import dataclasses
import re
from collections.abc import Callable, Mapping

from wireproof.model.errors import BadInput
from wireproof.settings.hosts import MOST_HOSTS, host_lines, parse_hosts

_JOB = re.compile(r"[A-Za-z0-9ƒ][A-Za-z0-9ƒ._\[\]-]{0,127}")
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._,@+-]{0,127}", re.ASCII)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Allocation:
    """An allocation. ``hosts``: the granted nodes, in the scheduler's order, each once.
    ``give_back``: releases the allocation if wireproof requested it.

    ``ends_unix_s``: when the scheduler will end it, None if unknown.
    """

    scheduler: str
    job: str
    hosts: tuple[str, ...]
    partition: str = ""
    ends_unix_s: float | None = None
    notes: tuple[str, ...] = ()
    give_back: Callable[[], None] | None = dataclasses.field(
        default=None, compare=False, repr=False
    )

    @property
    def owned(self) -> bool:
        return self.give_back is not None


def job_id(environment: Mapping[str, str], name: str) -> str:
    value = environment.get(name, "").strip()
    if value and _JOB.fullmatch(value) is None:
        raise BadInput(
            f"{name}={value[:60]!r} is not the id of a job: unset it, or run inside the job."
        )
    return value


def shown_word(environment: Mapping[str, str], *names: str) -> str:
    """Return the first variable that is set; the value is only shown and recorded, so a strange
    value is left out.
    """
    value = next((environment[name] for name in names if environment.get(name)), "")
    return value if _WORD.fullmatch(value) else ""


def hosts_in(text: str, origin: str) -> tuple[str, ...]:
    """Return the hosts in order, each once. ``origin`` names the variable or file in an error
    message.
    """
    try:
        if (strange := re.search(r"[@!&^]|^file:", text)) is not None:
            raise BadInput(f"{strange.group()!r} is no part of a host's name.")
        return tuple(dict.fromkeys(parse_hosts(text, repeats=True)))
    except BadInput as error:
        raise BadInput(f"{origin} cannot be used: {error}") from error


def hosts_of_slots(path: str, variable: str) -> tuple[str, ...]:
    """Return the hosts of a file with a host name on each line, one line for each slot."""
    origin = f"{variable}={path[:200]}"
    names = list(dict.fromkeys(host_lines(path, origin)))
    if len(names) > MOST_HOSTS:
        raise BadInput(f"{origin} names more than {MOST_HOSTS} hosts: that is no list of hosts.")
    return hosts_in(",".join(names), origin)
