# pure
"""Rules for environment variables: names that no library reads, and values that it does
not accept.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from wireproof.lint.rule import Broken, Recipe, compiled, filled
from wireproof.lint.rules import book
from wireproof.lint.script import Job, SetVariable, jobs
from wireproof.lint.shell import at_word, corrected, edited
from wireproof.lint.tables import libraries, listed
from wireproof.model.site import of_site

_REMOVED = re.compile(
    r"I_MPI_(?:TMI|DAPL|OFA|RDMA)_\w+\Z|I_MPI_(?:DEVICE|NETMASK|TCP_NETMASK"
    r"|DYNAMIC_CONNECTION_MODE)\Z"
)
_CHOOSES = ("FI_PROVIDER", "I_MPI_OFI_PROVIDER", "I_MPI_TMI_PROVIDER")
_GONE = re.compile(r"(tmi|dapl|ofa|rdma|rdssm|ssm|sock)\Z")
_FABRICS = (
    (r"tmi|psm2|hfi\d?", "psm2"),
    (r"mlx[45x]?|ib\d*|mxm|ofa|dapl|rdma|rdssm", "mlx (InfiniBand; verbs with iWARP or RoCE)"),
    (r"sock|ssm|tcp|eth\d+|eno\d+", "tcp"),
)
"""Words of a removed fabric or of its device, and the provider that replaces it: words for a device
come before DAPL, which ran over all of them.
"""


def provider_of(text: str) -> str:
    """Return the libfabric provider of the fabric that ``text`` names; all providers if it names
    none.
    """
    words = re.split(r"[^a-z0-9]+", text.lower())
    for pattern, provider in _FABRICS:
        if any(re.fullmatch(pattern, word) for word in words):
            return provider
    return "mlx (InfiniBand), psm2 (Omni-Path) or tcp"


def names(recipe: Recipe) -> Iterator[Broken]:
    """Find variables that no library reads."""
    for job in jobs(recipe):
        old = job.old_intel
        for number in range(job.part.first, job.part.last + 1):
            line = recipe.lines[number - 1][:4000]
            if line.lstrip().startswith("#") or "_" not in line:
                continue
            for match in _token().finditer(line):
                yield from _name(recipe, number, match.start(), match.group(), old)
        for setting in job.settings:
            if not _token().fullmatch(setting.name) and "\n" not in setting.word.raw:
                at = recipe.lines[setting.word.line - 1].find(setting.name, setting.word.column - 1)
                yield from _name(recipe, setting.word.line, at, setting.name, old)


def _token() -> re.Pattern[str]:
    """Return the pattern of a word that is a variable wherever it occurs."""
    prefixes = "|".join(re.escape(each.prefix) for each in libraries() if each.anywhere)
    return compiled(rf"(?<![\w-])(?:{prefixes})[A-Za-z][A-Za-z0-9_]{{2,80}}\b(?!\*)")


def _name(recipe: Recipe, number: int, at: int, name: str, old: bool) -> Iterator[Broken]:
    line = recipe.lines[number - 1]
    if _REMOVED.match(name):
        new = _without(line, at, name)
        if name == "I_MPI_TMI_PROVIDER":
            new = line[:at] + "FI_PROVIDER" + line[at + len(name) :]
        instead = f"FI_PROVIDER={provider_of(' '.join(line[at:].split()[:2]))}"
        if not old:
            yield Broken("variable-removed", number, at + 1, name, new, right=instead)
    elif row := next(
        (row for row in book().variable if row.forbids(name) and row.fits(recipe)), None
    ):
        yield Broken(row.code, number, at + 1, filled(row.seen, name=name), right=row.right)
    elif at >= 0 and (right := nearest(name)):
        seen, fix = f"{name}; did you mean {right}?", line[:at] + right + line[at + len(name) :]
        yield Broken("variable-misspelt", number, at + 1, seen, fix)


def _without(line: str, at: int, name: str) -> str | None:
    """Return the line without the launcher's option that sets ``name``; None if there is no such
    option.
    """
    before = compiled(r"-g?env[ \t]+$").search(line[:at])
    after = compiled(r"(?:=|[ \t]+)[\w.,:/+-]+[ \t]+(?=[^\s\\])").match(line[at + len(name) :])
    if before is None or after is None:
        return None
    return line[: before.start()] + line[at + len(name) + after.end() :]


@of_site
def nearest(name: str) -> str | None:
    """Return the variable that was probably meant by an unknown name that differs from it in one
    word, by one or two letters.
    """
    library = next((each for each in libraries() if name.startswith(each.prefix)), None)
    if library is None:
        return None
    rest = name[len(library.prefix) :]
    if rest in library.known or rest.startswith(("ADJUST_", "TUNING_", "COLL_")):
        return library.aliases.get(name)
    meant = (library.prefix + known for known in sorted(library.known) if _meant(rest, known))
    return library.aliases.get(name) or next(meant, None)


def _meant(rest: str, known: str) -> bool:
    """Return whether a word of the name is mistyped, or the underscores are in other places."""
    parts, others = rest.split("_"), known.split("_")
    if len(others) != len(parts):
        return len(rest) >= 6 and known.replace("_", "") == rest.replace("_", "")
    different = [(a, b) for a, b in zip(parts, others, strict=True) if a != b]
    return len(different) == 1 and _mistyped(*different[0])


def _mistyped(seen: str, known: str) -> bool:
    if re.sub(r"\d", "", seen) == re.sub(r"\d", "", known):
        return False  # a different number means a different variable
    size = min(len(seen), len(known))
    if size < 4:  # for short words, only swapped letters and a plural count as misspellings
        swapped = sorted(seen) == sorted(known) and distance(seen, known, 1) == 1
        return size == 3 and (swapped or seen.removesuffix("S") == known.removesuffix("S"))
    return distance(seen, known, 2) <= (1 if size < 7 else 2)


def distance(a: str, b: str, limit: int) -> int:
    """Return the number of letters that are inserted, left out, replaced or swapped with their
    neighbour (optimal string alignment), up to ``limit``.
    """
    if abs(len(a) - len(b)) > limit:
        return limit + 1
    before: list[int] = []
    last = list(range(len(b) + 1))
    for i in range(1, len(a) + 1):
        row = [i]
        for j in range(1, len(b) + 1):
            best = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1]))
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                best = min(best, before[j - 2] + 1)
            row.append(best)
        before, last = last, row
    return last[-1]


def values(recipe: Recipe) -> Iterator[Broken]:
    """Find values that the library does not accept."""
    for job in jobs(recipe):
        for setting in job.settings:
            value = setting.value.strip("\"'")
            if value and not any(mark in value for mark in "$<`{"):
                yield from _value(recipe, job, setting, value)


def _value(recipe: Recipe, job: Job, setting: SetVariable, value: str) -> Iterator[Broken]:
    name, word = setting.name, setting.value_word
    if name == "I_MPI_FABRICS":
        yield from _fabric(recipe, job, setting, value)
    elif name in ("FI_PROVIDER", "I_MPI_OFI_PROVIDER"):
        yield from _provider(recipe, setting, value)
    for row in book().variable:
        holds = row.how in ("", setting.how) and row.hits(name, value) and row.fits(recipe)
        # a page shows several runs side by side
        apart = bool(row.beside) and not job.part.script
        if holds and not apart and not (row.unless and compiled(row.unless).search(job.text)):
            new, seen, right = (
                filled(text, name=name, value=value)
                for text in (row.change or "", row.seen, row.right)
            )
            edit = (word, word.raw.replace(value, new, 1))
            fix = None if row.change is None else corrected(recipe, [edit], word.line)
            yield _at(row.code, setting, seen, fix, right)


def _at(
    code: str, setting: SetVariable, seen: str, fix: str | None = None, right: str = ""
) -> Broken:
    return replace(at_word(code, setting.value_word, seen, fix), right=right)


def _fabric(recipe: Recipe, job: Job, setting: SetVariable, value: str) -> Iterator[Broken]:
    if value in ("shm", "ofi", "shm:ofi"):
        return
    seen, parts = f"I_MPI_FABRICS={value}", value.split(":")
    providers = [part for part in parts if part in listed("providers") and part != "shm"]
    if providers:
        new = "shm:ofi" if value.startswith("shm:") else "ofi"
        fix = _by_provider(recipe, setting, value, providers[0], new)
        yield _at("fabric-is-provider", setting, seen, fix)
    elif not any(_GONE.match(part) for part in parts):
        yield _at("value-invalid", setting, seen)
    elif not job.old_intel:
        yield _removed(recipe, job, setting, value)


def _removed(recipe: Recipe, job: Job, setting: SetVariable, value: str) -> Broken:
    """Report a removed fabric, with the provider that replaces it unless another is named."""
    wire = any(launch.ranks == 2 and launch.benchmark for launch in job.launches)
    new = "shm:ofi" if value.startswith("shm:") and not wire else "ofi"
    word, provider = setting.value_word, provider_of(value)
    fix = _by_provider(recipe, setting, value, provider, new)
    if " " in provider or any(each.name in _CHOOSES for each in job.settings):
        fix = corrected(recipe, [(word, word.raw.replace(value, new))], word.line)
    right = f"I_MPI_FABRICS={new} FI_PROVIDER={provider}"
    return _at("fabric-removed", setting, f"I_MPI_FABRICS={value}", fix, right)


def _by_provider(recipe: Recipe, setting: SetVariable, value: str, provider: str, new: str) -> str:
    word = setting.value_word
    text = f"{word.raw.replace(value, new)} FI_PROVIDER={provider}"
    if setting.how == "genv" and word is not setting.word:
        text = word.raw.replace(value, f"{new} -genv FI_PROVIDER {provider}")
    return corrected(recipe, [(word, text)], word.line)


def _provider(recipe: Recipe, setting: SetVariable, value: str) -> Iterator[Broken]:
    if value in ("ofi", "shm:ofi", "tmi", "dapl", "ofa"):
        right = f"I_MPI_FABRICS=ofi FI_PROVIDER={provider_of(value)}"
        yield _at("fabric-is-provider", setting, f"{setting.name}={value}", right=right)
        return
    known, word = listed("providers"), setting.value_word
    for part in map(str.strip, re.split(r"[;,]", value.lower().lstrip("^!"))):
        near = [name for name in sorted(known) if len(part) > 2 and distance(part, name, 1) == 1]
        if near and part not in known and not part.startswith(("ofi_", "off_")):
            seen = f"{setting.name}={value}: {near[0]} is meant?"
            yield edited("value-invalid", recipe, word, word.raw.replace(part, near[0]), seen)


CHECKS = (names, values)
