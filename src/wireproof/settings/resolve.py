"""Settings from option, environment (``WIREPROOF_<NAME>``), ``wireproof.toml`` and default, in this
order of strength.

One table declares them all; help texts, the file's keys and the environment's names derive from it.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from wireproof.files.hostile import read_bounded
from wireproof.model.errors import BadInput
from wireproof.model.toml import LARGEST, read_toml
from wireproof.settings.durations import parse_duration
from wireproof.settings.hosts import check_nics, parse_hosts
from wireproof.settings.sizes import parse_sizes

__all__ = [
    "DECLARED",
    "FILE_NAME",
    "PREFIX",
    "Declared",
    "Setting",
    "Settings",
    "misspelt",
    "read_file",
    "resolve",
]

Origin = Literal["default", "file", "environment", "option"]
FILE_NAME = "wireproof.toml"
PREFIX = "WIREPROOF_"
MPI_NAMES = ("", "mpich", "intel", "openmpi", "debian-mpich")
LAUNCHER_NAMES = ("", "ssh")
T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Setting(Generic[T]):
    """A value and where it came from: ``source`` is ``--mpi``, ``WIREPROOF_MPI``,
    ``wireproof.toml:3`` or empty.
    """

    value: T
    origin: Origin = "default"
    source: str = ""


@dataclasses.dataclass(frozen=True)
class Declared:
    """One setting: how its text is read and what it means.

    ``names``: for a setting whose value can be the path of a program, the values that name none. A
    file chooses among these and no others: whoever can put a file into the current folder, or made
    the folder of a run, would else choose what is started.
    """

    parse: Callable[[str], Any]
    default: Any
    help: str
    names: tuple[str, ...] | None = None

    def is_program(self, text: str) -> bool:
        return self.names is not None and text not in self.names


def _one_of(*allowed: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in allowed:
            near = get_close_matches(text, allowed, n=1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            raise BadInput(f"{text[:40]!r} is not one of {', '.join(allowed)}{hint}.")
        return text

    return parse


def _whole(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if re.fullmatch(r"[0-9]{1,19}", text, re.ASCII) is None or not low <= int(text) <= high:
            raise BadInput(f"{text[:40]!r} is not a whole number from {low} to {high}.")
        return int(text)

    return parse


def _yes_no(text: str) -> bool:
    words = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
    if text.lower() not in words:
        raise BadInput(f"{text[:40]!r} is not yes or no.")
    return words[text.lower()]


def _text(text: str) -> str:
    if any(ord(letter) < 32 for letter in text) or len(text) > 4096:
        raise BadInput("the value has control characters or is longer than 4096 characters.")
    return text


def _library(text: str) -> str:
    if not text.startswith("/"):
        raise BadInput(f"{text[:40]!r} is no absolute path: give it as it is on the hosts.")
    return _text(text)


def _provider(text: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9_]+(;[A-Za-z0-9_]+)*", text, re.ASCII) is None or len(text) > 100:
        raise BadInput(f"{text[:40]!r} is no name of a provider: give one as fi_info prints it.")
    return text


DECLARED: dict[str, Declared] = {
    "mpi": Declared(_text, "", "MPI: a path, or mpich, intel, openmpi, debian-mpich", MPI_NAMES),
    "hosts": Declared(parse_hosts, (), "hosts, one rank each: n1,n2 or n[1-4]"),
    "nic": Declared(
        check_nics, "", "the NIC that the traffic is claimed to use, or its rails: hsn0,hsn1"
    ),
    "nic_selection": Declared(
        _one_of("claimed", "none"),
        "claimed",
        "tell the MPI to use the claimed NIC, or leave its own choice (none)",
    ),
    "link": Declared(
        _text, "", "claimed link: 10gbe, ethernet:25, edr, infiniband:400, 2xedr, opa100, ..."
    ),
    "transport": Declared(
        _one_of("null", "model", "mpi", "tcp", "ofi"), "mpi", "what carries the messages"
    ),
    "fabric": Declared(
        _one_of("tcp", "verbs", "psm3", "psm2", "mlx", "opx", ""),
        "",
        "provider that the MPI is set to use",
    ),
    "provider": Declared(
        _provider, "", "libfabric's provider, for the transport ofi: tcp, shm, psm3, verbs, ..."
    ),
    "libfabric": Declared(
        _library, "", "path of the libfabric that the transport ofi loads on the nodes", ("",)
    ),
    "messages": Declared(
        _one_of("", "tagged", "msg"), "", "libfabric's calls, for the transport ofi: tagged or msg"
    ),
    "completion": Declared(
        _one_of("", "transmit", "delivery"),
        "",
        "what the completion of a send promises, for the transport ofi: transmit or delivery",
    ),
    "exchange": Declared(
        _one_of("", "meeting", "mpi"),
        "",
        "how ranks exchange addresses, for the transport ofi: meeting or mpi",
    ),
    "launcher": Declared(
        _text, "", "how other hosts are reached: ssh or the path of an agent", LAUNCHER_NAMES
    ),
    "sizes": Declared(parse_sizes, (), "message sizes: 0,8,64KiB or 0:4MiB (doubling)"),
    "formula": Declared(
        _one_of("robust", "osu", "imb-mpi1", "imb-p2p", "hpcc"),
        "robust",
        "whose formula gives the number",
    ),
    "window": Declared(_whole(1, 1024), 64, "messages in flight"),
    "profile": Declared(
        _one_of("quick", "standard", "acceptance"), "quick", "how much is measured"
    ),
    "budget": Declared(parse_duration, None, "time for one point: 500ms, 2s"),
    "deadline": Declared(parse_duration, None, "time for the whole run: 10min"),
    "seed": Declared(_whole(0, 2**63 - 1), None, "seed of the order of the points"),
    "repeat": Declared(_whole(1, 1000), 1, "how often each point is measured"),
    "out": Declared(lambda text: Path(_text(text)), None, "folder for the run's records"),
    "history": Declared(
        lambda text: Path(_text(text)), None, "history that keeps the result, in place of --out"
    ),
    "atlas": Declared(
        lambda text: Path(_text(text)), None, "folder of a site's own published numbers"
    ),
    "json": Declared(_yes_no, False, "machine-readable output"),
}


@dataclasses.dataclass(frozen=True)
class Settings:
    """Every declared setting with its origin. ``None`` and empty mean: not given, the verb
    decides.
    """

    mpi: Setting[str]
    hosts: Setting[tuple[str, ...]]
    nic: Setting[str]
    nic_selection: Setting[str]
    link: Setting[str]
    transport: Setting[str]
    fabric: Setting[str]
    provider: Setting[str]
    libfabric: Setting[str]
    messages: Setting[str]
    completion: Setting[str]
    exchange: Setting[str]
    launcher: Setting[str]
    sizes: Setting[tuple[int, ...]]
    formula: Setting[str]
    window: Setting[int]
    profile: Setting[str]
    budget: Setting[float | None]
    deadline: Setting[float | None]
    seed: Setting[int | None]
    repeat: Setting[int]
    out: Setting[Path | None]
    history: Setting[Path | None]
    atlas: Setting[Path | None]
    json: Setting[bool]

    def origins(self) -> dict[str, str]:
        """Settings that are not defaults: name to ``origin source``, for the record."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {
            name: f"{it.origin} {it.source}".strip()
            for name, it in values.items()
            if it.origin != "default"
        }


def _as_text(value: object, where: str) -> str:
    """A TOML value as the text that the option would have been given."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float | str):
        return str(value)
    if isinstance(value, list):
        return ",".join(_as_text(item, where) for item in value)
    raise BadInput(f"{where}: give a text, a number or a list, not a {type(value).__name__}.")


def _line_of(text: str, key: str) -> int:
    """Line of ``key`` in the file: the parser has none."""
    for number, line in enumerate(text.splitlines(), start=1):
        if re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
            return number
    return 1


def read_file(path: Path) -> dict[str, tuple[str, str]]:
    """Settings of a ``wireproof.toml``: name to (text, ``file:line``).

    Raises ``BadInput`` that names file, line and the nearest known key.
    """
    try:
        text = read_bounded(path, LARGEST).decode("utf-8")
    except OSError as error:
        raise BadInput(f"settings file {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"settings file {path} is not TOML: {error}.") from error
    table = read_toml(text, f"settings file {path}")
    found: dict[str, tuple[str, str]] = {}
    for key, value in table.items():
        where = f"{path.name}:{_line_of(text, key)}"
        name = key.replace("-", "_")
        if name not in DECLARED:
            near = get_close_matches(name, DECLARED, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(DECLARED)}."
            raise BadInput(f"{where}: there is no setting {key[:40]!r}; {hint}")
        found[name] = (_as_text(value, where), where)
        if DECLARED[name].is_program(found[name][0]):
            option = "--" + name.replace("_", "-")
            known = ", ".join(filter(None, DECLARED[name].names or ()))
            raise BadInput(
                f"{where}: {key[:40]} names a program, and a file in the current folder may not"
                f" choose one: give {option} or {PREFIX}{name.upper()}, or write {known}."
            )
    return found


def _resolve_one(
    name: str,
    options: Mapping[str, str | None],
    environment: Mapping[str, str],
    file: Mapping[str, tuple[str, str]],
) -> Setting[Any]:
    declared = DECLARED[name]
    variable = PREFIX + name.upper()
    given: tuple[str, Origin, str]
    if (text := options.get(name)) is not None:
        given = (text, "option", "--" + name.replace("_", "-"))
    elif variable in environment:
        given = (environment[variable], "environment", variable)
    elif name in file:
        given = (file[name][0], "file", file[name][1])
    else:
        return Setting(declared.default)
    try:
        return Setting(declared.parse(given[0]), given[1], given[2])
    except BadInput as error:
        raise BadInput(f"{given[2]}: {error}") from error


def misspelt(environment: Iterable[str]) -> list[str]:
    """A sentence for each variable that is almost the name of a setting."""
    known = [PREFIX + name.upper() for name in DECLARED]
    found = []
    for name in sorted(environment):
        near = get_close_matches(name, known, n=1, cutoff=0.9)
        if name.startswith(PREFIX) and near and name not in known:
            found.append(f"the variable {name[:60]} is no setting; did you mean {near[0]}?")
    return found


def resolve(
    options: Mapping[str, str | None],
    environment: Mapping[str, str],
    file: Mapping[str, tuple[str, str]] | None = None,
) -> Settings:
    """Type every setting. ``options`` holds texts as given (``None``: not given); ``file`` comes
    from ``read_file``.

    Raises ``BadInput`` that names the option, variable or file and line; unknown ``WIREPROOF_*``
    names are left alone.
    """
    return Settings(
        **{name: _resolve_one(name, options, environment, file or {}) for name in DECLARED}
    )
