"""Judgements to hold still while the code moves: logs, proofs, worlds, recipes and audits by seed.

Each line is one case: its key, the answer (verdict, codes, subjects), and a digest of the whole
document without its prose, so that sentences may be mended and no number may move.
"""

import hashlib
import json
import random
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from benchmarks.locate import sweep
from tests.audit.trees import MACHINES, lay_out
from tests.fuzz.mutate import damaged, seeds_of
from tests.zoo.frames import run_of
from tests.zoo.scene import timeline
from tests.zoo.watched import proved
from tests.zoo.worlds import world

from wireproof.audit.job import AuditSpecification, audit
from wireproof.lint.job import lint
from wireproof.locate.world import World, WorldFault
from wireproof.logs.job import judge_bytes, standard
from wireproof.logs.readers import adapter_names
from wireproof.model.errors import BadInput
from wireproof.report.reporter import LoggingReporter
from wireproof.verdict.run import judge

GOLDEN = Path(__file__).parents[1] / "golden"
_PROSE = frozenset(
    ("message", "advice", "title", "text", "reason", "why", "meaning", "notes", "unit_doubt")
).union(("incomplete", "derivation", "right", "wanted", "undecided", "fix", "undo"))
"""Names of fields that hold sentences."""
_LINKS = ("", "1gbe", "10gbe", "100gbe", "fdr", "edr", "hdr200", "opa100", "slingshot200", "qdr")
_FAULTS = ("node", "port", "pair")
Case = tuple[str, str, Any]
"""A key, the answer in words that a person compares, and the whole document."""


def document(value: Any) -> Any:
    """``value`` as JSON holds it, without its sentences and with numbers as they print."""
    match value:
        case Mapping():
            return {str(k): document(v) for k, v in value.items() if not _is_prose(k, v)}
        case list() | tuple():
            return [document(one) for one in value]
        case set() | frozenset():
            return sorted(str(one) for one in value)
        case float():
            return float(f"{value:.9g}")  # the last digits are the library's, not ours
        case None | bool() | int() | str():
            return value
        case _:
            return document(msgspec.to_builtins(value, str_keys=True))


def _is_prose(name: str, value: Any) -> bool:
    return name in _PROSE or (name == "evidence" and not isinstance(value, Mapping))


def digest(value: Any) -> str:
    text = json.dumps(document(value), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def _codes(findings: Any) -> str:
    said = [one for one in findings if one.severity != "note"]
    named = {(one.severity, one.code, getattr(one, "subject", "")) for one in said}
    return " ".join(
        f"{severity}:{code}@{about}".rstrip("@") for severity, code, about in sorted(named)
    )


def logs(numbers: Iterable[int]) -> Iterator[Case]:
    """Golden logs, as they are and damaged, each against a link."""
    files = sorted(each for each in (GOLDEN / "logs").iterdir() if each.suffix != ".md")
    known = {link: standard(link or None) for link in _LINKS}
    pieces = _pieces()
    for number in numbers:
        file, link = files[number % len(files)], _LINKS[number // len(files) % len(_LINKS)]
        data = file.read_bytes()
        if number >= len(files) * len(_LINKS):
            choice = random.Random(number)
            data, link = damaged(choice, pieces), choice.choice(_LINKS)
        key = f"{number} {file.name} {link or '-'}"
        try:
            found = judge_bytes(data, "log", known[link])
        except BadInput:
            yield key, "no result", None
            continue
        answers = [f"{one.verdict} {one.proof} {_codes(one.reasons)}" for one in found]
        yield key, " | ".join(answers), found


@cache
def _pieces() -> list[bytes]:
    return [piece for tool in adapter_names() for piece in seeds_of(tool)]


def runs(seeds: Iterable[int]) -> Iterator[Case]:
    """Runs of random worlds of the zoo, judged."""
    for seed in seeds:
        found = judge(run_of(timeline(world(seed))))
        proofs = sorted({pair.proof for pair in found.pairs})
        yield str(seed), f"{found.verdict} {','.join(proofs)} {_codes(found.findings)}", found


def proofs(seeds: Iterable[int]) -> Iterator[Case]:
    """What ``prove`` says of a foreign program on random worlds of the zoo."""
    for seed in seeds:
        found = proved(world(seed))
        answer = f"{found.verdict} {found.proof} {found.level or '-'} {_codes(found.reasons)}"
        yield str(seed), answer, found


def located(seeds: Iterable[int]) -> Iterator[Case]:
    """Synthetic worlds through screen, confirm and conclusion."""
    for seed in seeds:
        choice = random.Random(seed)
        nodes = choice.choice((3, 4, 6, 8, 16, 48))
        fault = WorldFault(
            kind=choice.choice(_FAULTS),
            node=choice.randrange(nodes - 1),
            other=nodes - 1,
            share=choice.choice((0.5, 0.8, 0.9, 0.97)),
            direction=choice.choice(("tx", "rx", "")),
        )
        leaves = choice.choice((1, 2)) if nodes >= 8 else 1
        made = World(nodes=nodes, leaves=leaves, faults=(fault,) if seed % 4 else (), seed=seed)
        metric = choice.choice(("goodput", "hrt"))
        _, found = sweep(made, seed=seed, metric=metric, fabric=seed % 3 > 0)
        blames = " ".join(sorted(f"{one.kind}:{one.subject}" for one in found.blames))
        yield f"{seed} {nodes} nodes {metric}", blames or "nobody", found


def recipes(numbers: Iterable[int]) -> Iterator[Case]:
    """Golden recipes, as they are and with lines dropped, doubled or exchanged."""
    files = sorted(each for each in (GOLDEN / "recipes").rglob("*") if each.is_file())
    for number in numbers:
        file, choice = files[number % len(files)], random.Random(number)
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
        for _ in range(number // len(files)):
            _change(choice, lines)
        try:
            found = lint("".join(lines) + "\n").findings
        except BadInput:
            yield f"{number} {file.name}", "no recipe", None
            continue
        named = " ".join(f"{one.code}@{one.line}" for one in found)
        yield f"{number} {file.name}", named or "nothing", found


def _change(choice: random.Random, lines: list[str]) -> None:
    if not lines:
        return
    at, other = choice.randrange(len(lines)), choice.randrange(len(lines))
    match choice.choice(("drop", "double", "exchange")):
        case "drop":
            del lines[at]
        case "double":
            lines.insert(other, lines[at])
        case _:
            lines[at], lines[other] = lines[other], lines[at]


def audits(numbers: Iterable[int]) -> Iterator[Case]:
    """The machines of the audit's tests, each with a few files of another machine, or emptied."""
    names = sorted(MACHINES)
    with tempfile.TemporaryDirectory(prefix="wireproof-frozen-") as scratch:
        for number in numbers:
            choice, name = random.Random(number), names[number % len(names)]
            changes = _changes(choice, name) if number >= len(names) else {}
            root = lay_out(Path(scratch) / str(number), name, changes)
            specification = AuditSpecification(source=root)
            found = list(audit(specification, LoggingReporter(), {}).results)
            failing = " ".join(sorted({one.id for one in found if one.status == "fail"}))
            yield f"{number} {name}", failing or "nothing fails", found


def _changes(choice: random.Random, name: str) -> dict[str, str | None]:
    own = [place for place, text in MACHINES[name].items() if isinstance(text, str)]
    changed: dict[str, str | None] = {}
    for place in choice.sample(own, min(3, len(own))):
        elsewhere = [str(one[place]) for one in MACHINES.values() if place in one]
        changed[place] = choice.choice([*elsewhere, "0", "1", "", None])
    return changed


FAMILIES: dict[str, tuple[Callable[[Iterable[int]], Iterator[Case]], int]] = {
    "logs": (logs, 2000),
    "runs": (runs, 300),
    "proofs": (proofs, 200),
    "located": (located, 500),
    "recipes": (recipes, 500),
    "audits": (audits, 300),
}
"""What makes the cases of these numbers, and how many there are."""
