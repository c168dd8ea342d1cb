# pure
"""Parse the catalogue of settings from TOML texts. Pure.

An invalid entry is skipped without affecting the others. A sentence states its file and position,
the mistake, and the nearest valid word.
"""

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from wireproof.audit.expression import Expression, parse
from wireproof.audit.facts import matches_any
from wireproof.audit.firmware import MAKERS
from wireproof.audit.machine import FILES, GLOBS, NAMES, Instance
from wireproof.audit.printed import port_info
from wireproof.audit.values import AFFINITIES, INTERRUPTS, vectors_of
from wireproof.model.errors import BadInput, suggestion
from wireproof.model.plan import FactRequest
from wireproof.model.setting import PROFILES, Fix, Profile, Read, Setting
from wireproof.model.site import CatalogueFile
from wireproof.model.toml import at_field, line_at, mistake, read_toml

ELSEWHERE = ("bios", "environment")
"""Places that are not files of the host: the firmware's attributes (by Redfish) and the job's
environment. Collectors pass them as facts with these names. Places below ``pci/`` derive from the
list of PCI devices, below ``mlxconfig/`` from the output of mlxconfig, below ``irq/`` from the
cores of all interrupts.
"""
_MADE = ("pci/", "pci-host/", "mlxconfig/", INTERRUPTS)
_WHOLE, _LOOK = 65536, 1
"""Bytes to read of a file, and of a file that is only checked for existence: its text may contain
secrets.
"""
_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_DROP_IN = re.compile(r"/etc/sysctl\.d/[\w.-]*wireproof[\w.-]*\.conf", re.ASCII)
"""Drop-ins of a site's settings. Other folders have files that name programs."""
_PLACES = {"nic": {"nic"}, "rdma": {"device", "port"}, "host": set(), "each": set()}


@dataclass(frozen=True)
class ParsedSetting:
    """A setting with its conditions parsed. ``doubt``: false if it has none. ``when``: one
    condition per place. ``inferred``: conditions of values that the operating system implies.
    ``names``: everything that the conditions look up. ``values``: values of the fix that are
    expressions.
    """

    setting: Setting
    applies: Expression
    good: dict[Profile, Expression]
    doubt: Expression
    when: tuple[Expression, ...]
    inferred: tuple[Expression, ...]
    names: tuple[str, ...]
    values: dict[str, Expression] = field(default_factory=dict)


@dataclass(frozen=True)
class Catalogue:
    """``skipped``: a sentence for each entry that cannot be used."""

    entries: dict[str, ParsedSetting] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()

    def get(self, name: str) -> ParsedSetting:
        """Return the setting. Raise ``BadInput`` with the nearest names if there is none."""
        if name in self.entries:
            return self.entries[name]
        hint = suggestion(name, self.entries, "`wireproof audit --list` lists them all.")
        raise BadInput(f"no setting is called {name!r}; {hint}")


def catalogue_of(texts: Iterable[CatalogueFile]) -> Catalogue:
    """Parse all settings of the TOML ``texts``. The title of a site's setting names its file."""
    entries: dict[str, ParsedSetting] = {}
    places: dict[str, str] = {}
    skipped: list[str] = []
    for text in texts:
        try:
            document = read_toml(text.text, text.name)
        except BadInput as error:
            skipped.append(str(error))
            continue
        for number, raw in enumerate(document.get("setting", ())):
            entry = [("setting", number)]
            place = f"{text.name}, line {line_at(text.text, entry)}"
            try:
                found = _parsed(msgspec.convert(raw, Setting), text)
                if found.setting.id in entries:
                    raise BadInput(f"'id' is {found.setting.id}, which is already used.")
                entries[found.setting.id] = found
                places[found.setting.id] = place
            except msgspec.ValidationError as error:
                skipped.append(str(mistake(text.text, text.name, Setting, error, entry)))
            except BadInput as error:
                skipped.append(str(at_field(text.text, text.name, ValueError(str(error)), entry)))
    for name, found in list(entries.items()):
        if wrong := _unknown_names(found, entries):
            skipped.append(f"{places[name]}: {name}: {wrong}")
            del entries[name]
    return Catalogue(entries, tuple(skipped))


def _parsed(setting: Setting, text: CatalogueFile) -> ParsedSetting:
    if not _ID.fullmatch(setting.id):
        raise BadInput(f"'id' is {setting.id[:60]!r}: use lower case words joined by '-'.")
    if text.by_site:
        _check_site(setting)
        setting = msgspec.structs.replace(setting, title=text.source(setting.title))
    _check_names(setting)
    _check_profiles(setting)
    for read in setting.reads:
        _check_place(setting, read)
    applies = _condition("applies", setting.applies)
    good = {
        profile: _condition("good", setting.condition(profile) or "true") for profile in PROFILES
    }
    doubt = _condition("doubt", setting.doubt.when if setting.doubt else "false")
    when = tuple(_condition("reads", read.when or "true") for read in setting.reads)
    inferred = tuple(_condition("inferred", hint.when) for hint in setting.inferred)
    values = _expressions(setting)
    parsed = (applies, doubt, *good.values(), *when, *inferred, *values.values())
    named = {name for expression in parsed for name in expression.names} - {"value"}
    return ParsedSetting(
        setting, applies, good, doubt, when, inferred, tuple(sorted(named)), values
    )


def _condition(field: str, text: str) -> Expression:
    try:
        return parse(text)
    except BadInput as error:
        raise BadInput(f"{field!r}: {error}") from error


def _check_site(setting: Setting) -> None:
    """Check that a setting of a site starts no command: its file may come from somebody else."""
    fix = setting.fix or Fix()
    if any(read.command for read in setting.reads) or fix.command:
        raise BadInput("a site's setting must not start commands: read and write files.")
    if fix.line or (fix.persist and not (fix.at_once and _DROP_IN.fullmatch(fix.persist))):
        raise BadInput(
            "'fix': a site's setting may persist only what it sets at once, without"
            " 'line', in /etc/sysctl.d/*wireproof*.conf."
        )
    if not setting.title.strip():
        raise BadInput("'title' is blank.")
    if not 0 <= setting.effect.low <= setting.effect.high <= 1:
        raise BadInput("'effect': give shares, 0 <= low <= high <= 1.")


def _check_profiles(setting: Setting) -> None:
    given = setting.fix.value if setting.fix else {}
    profiled = (*setting.good, *setting.wanted, *given)
    wrong = [name for name in profiled if name not in ("any", *PROFILES)]
    if wrong:
        raise BadInput(f"no profile is called {wrong[0]!r}; there are {', '.join(PROFILES)}.")


def _expressions(setting: Setting) -> dict[str, Expression]:
    """Return the computed values of the fix."""
    given = setting.fix.value if setting.fix else {}
    return {name: parse(text[1:]) for name, text in given.items() if text.startswith("=")}


def _check_names(setting: Setting) -> None:
    """Check the names of a firmware attribute, which are listed by maker."""
    if any(read.file == "bios" for read in setting.reads) and not any(setting.names.values()):
        raise BadInput("an attribute of the firmware needs names.")
    makers = [name for name in setting.names if name not in ("any", *MAKERS)]
    if makers:
        raise BadInput(f"no maker is called {makers[0]!r}; there are any, {', '.join(MAKERS)}.")


def _check_place(setting: Setting, read: Read) -> None:
    if bool(read.file) == bool(read.command):
        raise BadInput("a place to read must be either a file or a command.")
    text = f"{read.file or ' '.join(read.command)} {read.section}".rstrip()
    for name in re.findall(r"\{(\w*)\}", text):
        if name not in _PLACES[setting.scope]:
            raise BadInput(f"{{{name}}} is not known in {text!r} of scope {setting.scope}.")
    if setting.scope == "each" and "*" not in read.file:
        raise BadInput(f"scope each needs a * in {text!r}.")


def _unknown_names(entry: ParsedSetting, entries: Mapping[str, ParsedSetting]) -> str:
    """Return a sentence about an unknown name in a condition; "" if all names exist."""
    known = {"value", *NAMES}
    if any(name.startswith("setting:") for when in entry.when for name in when.names):
        return "the condition of a place must not name another setting."
    parsed = (entry.applies, entry.doubt, *entry.good.values(), *entry.when, *entry.inferred)
    for expression in (*parsed, *entry.values.values()):
        for name in sorted(expression.names):
            if name.startswith("setting:"):
                other = name.partition(":")[2]
                if other not in entries:
                    return f"{expression.text!r} names the setting {other!r}, which does not exist."
            elif name not in known and not name.startswith("exists:"):
                near = difflib.get_close_matches(name, known, n=1)
                hint = f"; did you mean {near[0]}?" if near else ""
                return f"{expression.text!r} names {name!r}, which is not known{hint}"
    return ""


def requests(catalogue: Catalogue) -> tuple[FactRequest, ...]:
    """Return the first requests to a host. Places of scope nic or rdma are requested by a glob
    pattern; commands about an interface follow when its name is known.
    """
    files = dict.fromkeys(FILES, _WHOLE)
    globs = dict.fromkeys(GLOBS, _WHOLE)
    commands: dict[tuple[str, ...], None] = {}
    for entry in catalogue.entries.values():
        for read in entry.setting.reads:
            if read.file in ELSEWHERE or read.file.startswith(_MADE):
                continue
            if read.command:
                if not _names_interface(read.command):
                    commands[read.command] = None
            else:
                path = re.sub(r"\{\w+\}", "*", read.file)
                (globs if "*" in path else files)[path] = _WHOLE
    for entry in catalogue.entries.values():
        for path in _looked_for(entry):
            if not matches_any(globs, path):
                files.setdefault(path, _LOOK)
    return (
        *(FactRequest(kind="file", path=path, limit_bytes=size) for path, size in files.items()),
        *(FactRequest(kind="glob", path=path, limit_bytes=16384) for path in globs),
        *(FactRequest(kind="command", argv=argv, limit_bytes=1 << 18) for argv in commands),
    )


def requests_of_instances(
    catalogue: Catalogue, instances: Iterable[Instance]
) -> tuple[FactRequest, ...]:
    """Return the commands that name an interface, for each interface, and the queries of InfiniBand
    ports.
    """
    commands = [
        read.command
        for entry in catalogue.entries.values()
        for read in entry.setting.reads
        if _names_interface(read.command)
    ]
    argvs: dict[tuple[str, ...], None] = {}
    for instance in instances:
        if nic := instance.places.get("nic"):
            for command in commands:
                argvs[tuple(word.replace("{nic}", nic) for word in command)] = None
            argvs |= dict.fromkeys((AFFINITIES, vectors_of(nic)))
        elif instance.names["rdma.layer"] == "InfiniBand":
            argvs[port_info(instance.places["device"], instance.places["port"])] = None
    return tuple(FactRequest(kind="command", argv=argv, limit_bytes=1 << 18) for argv in argvs)


def _names_interface(argv: tuple[str, ...]) -> bool:
    return any("{nic}" in word for word in argv)


def _looked_for(entry: ParsedSetting) -> list[str]:
    """Return the files whose existence a condition checks."""
    return [name.partition(":")[2] for name in entry.names if name.startswith("exists:")]
