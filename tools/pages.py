"""Lays out the pages of the site: those of the checkout, with what they take from the code.

``python tools/pages.py FOLDER`` writes the folder that ``make docs`` builds the site from.
"""

from __future__ import annotations

import posixpath
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from command_pages import command_index, command_pages
from document_pages import documents
from formula_page import formulas
from wireproof.atlas.job import atlas_view
from wireproof.audit.job import catalogue
from wireproof.audit.machine import Instance
from wireproof.audit.remedy import filled, fix_text, remedy_with
from wireproof.ledger.catalogue import families
from wireproof.ledger.catalogue.read import CounterRow, Family
from wireproof.lint.rule import Rule
from wireproof.lint.rules import rules
from wireproof.model import quantity
from wireproof.model.setting import Setting
from wireproof.model.site import packaged
from wireproof.pfc.counters import Names, PfcFamily, pausing
from wireproof.physics.limits import limits
from wireproof.physics.table import default_table, link_from_name, link_names
from wireproof.report.failing import effect_text
from wireproof.workflow.explain import causes

__all__ = ["lay_out", "pages", "with_generated"]

ROOT = Path(__file__).resolve().parents[1]
_TOP = (
    *("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"),
    *("examples/README.md", "packaging/README.md"),
)
_COMMANDS = "docs/reference/commands/"

_LEVELS = {"wire": "wire", "function": "function of the adapter", "stack": "kernel's interface"}
_CARRIERS = {
    "any": "everything",
    "kernel": "TCP and UDP of the kernel",
    "rdma": "RDMA",
    "psm": "PSM",
}
_QUALITIES = {"lower-bound": "a part may be missing", "double": "counted again beneath"}
MARK = "*`make docs` adds "
"""How the last line of a page with a generated part begins."""


def with_generated(page: str, generated: str) -> str:
    """``page`` with ``generated`` in place of its last line, which says how the rest is made.
    Raises ValueError without such a line.
    """
    prose, mark, _ = page.rpartition(MARK)
    if not mark:
        raise ValueError(f"the page has no line that begins with {MARK!r}")
    return f"{prose}{generated}"


def pages() -> dict[str, str]:
    """Every page of the site by its path in the checkout, with what is made from the code."""
    below = [path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")]
    texts = {page: (ROOT / page).read_text(encoding="utf-8") for page in (*_TOP, *sorted(below))}
    for page, part in _parts().items():
        texts[page] = with_generated(texts[page], part)
    return texts | {f"{_COMMANDS}{name}": text for name, text in command_pages().items()}


def _parts() -> dict[str, str]:
    return {
        "docs/adapters.md": adapters(families()),
        "docs/atlas.md": published(),
        "docs/explain.md": explained(),
        "docs/lint.md": recipes(),
        "docs/pfc.md": pause_counters(),
        "docs/physics.md": constants(),
        "docs/reference/formulas.md": formulas(),
        "docs/reference/json.md": documents(),
        "docs/settings.md": settings(),
        f"{_COMMANDS}index.md": command_index(),
    }


def lay_out(folder: Path) -> None:
    """Write the pages, and the pictures and files that they link to, below the new ``folder``."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder / "docs")
    for page, text in pages().items():
        path = folder / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        for target in re.findall(r"\]\(([^)#:]+)", text):
            linked = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
            if (ROOT / linked).is_file() and not (folder / linked).exists():
                (folder / linked).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / linked, folder / linked)


# --- docs/explain.md, docs/lint.md

_CAUSES = """\
## Causes

A slow node, port or switch gets the causes that counters, facts and sentinels support, the
likeliest first. "Other nodes" are up to 64 that are not blamed. No cause is named without evidence,
and its confidence is our judgement, not a measured frequency. Below a switch a cause must hold for
half of its nodes.
"""


def explained() -> str:
    """The entries of all findings, and of the causes below them."""
    parts = [packaged("wireproof.verdict.catalogue", "findings.md"), _CAUSES]
    for code, entry in causes().items():
        parts.append(f"### `{code}`: {entry.title.removeprefix('Cause: ')}\n")
        parts.append(
            f"{entry.meaning}\n\n*Seen when:* {entry.detection}\n\n"
            f"*What to do:* {entry.next_action}\n"
        )
    return "\n".join(parts)


def recipes() -> str:
    """All rules for recipes, by code."""
    return "\n".join(_recipe(rule) for _, rule in sorted(rules().items()))


def _recipe(rule: Rule) -> str:
    safe = ", safe" if rule.safe else ""
    plain = "\n" not in rule.right and "`" not in rule.right
    right = f"`{rule.right}`" if plain else rule.right
    setting = f"*Setting:* [`{rule.setting}`](settings.md)\n\n" if rule.setting else ""
    return (
        f"### `{rule.code}`\n\n{rule.sentence} ({rule.severity}{safe}; {', '.join(rule.kinds)})"
        f"\n\n*Why:* {rule.why}\n\n*Right:* {right}\n\n{setting}*Source:* {rule.source}\n"
    )


# --- docs/atlas.md


def published() -> str:
    """Sources and numbers of each link and pattern, and the links that have none."""
    view = atlas_view()
    lines = ["| link | sources | numbers | by pattern |", "|---|---|---|---|"]
    for link, sources in view.links.items():
        series = [one for one in view.series if one.link == link]
        numbers = sum(len(one.rows) for one in series)
        patterns = Counter(pattern for _, pattern in {(one.source, one.pattern) for one in series})
        shown = ", ".join(f"{name} {count}" for name, count in sorted(patterns.items()))
        lines.append(f"| `{link}` | {sources} | {numbers} | {shown} |")
    lines.append(f"| all {len(view.links)} | {view.sources} | {view.rows} | |")
    kinds = {one.partition(" x ")[2] or one for one in view.links}
    without = [name for name in link_names() if name not in kinds and _is_wire(name)]
    lines += ["", f"Without a published number: {', '.join(f'`{name}`' for name in without)}."]
    return "\n".join(lines) + "\n"


def _is_wire(name: str) -> bool:
    return link_from_name(name).rate_bits_per_s is not None


# --- docs/pfc.md


def pause_counters() -> str:
    """What each driver counts of priority flow control."""
    return "\n".join(line for one in pausing() for line in _pausing(one)).rstrip() + "\n"


def _pausing(family: PfcFamily) -> Iterable[str]:
    yield f"### {family.name}\n"
    yield f"Drivers: {', '.join(f'`{one}`' for one in family.drivers)}. {family.note}\n"
    yield "| what | sent | received |\n|---|---|---|"
    pairs = {
        "Xoff": family.xoff,
        "Xon": family.xon,
        "Xoff and Xon": family.frames,
        "ends of pauses": family.resumes,
        "beginnings and ends of pauses": family.toggles,
        "time of pause, us": family.paused_us,
        "traffic of the priority": family.load,
    }
    for what, (tx, rx) in pairs.items():
        if tx or rx:
            yield f"| {what} | {_spellings(tx)} | {_spellings(rx)} |"
    dropped = {way: [one for one in family.drops if one.direction == way] for way in ("tx", "rx")}
    shown = [", ".join(_spellings(one.names) for one in way) for way in dropped.values()]
    yield f"| drops | {' | '.join(one or 'none' for one in shown)} |"
    for what, several in (
        ("lost on the way (RDMA)", family.lost),
        ("of all priorities together", family.total),
        ("link-level flow control", family.link),
        ("the adapter's alarms", family.storms),
        ("congestion notifications, marks", family.marks),
    ):
        if several:
            yield f"| {what} | {', '.join(map(_spellings, several))} | |"
    yield f"\nSource: {family.source}."
    for what in family.unchecked:
        yield f"Unchecked: {what}."
    yield ""


def _spellings(names: Names) -> str:
    """The alternatives of one counter, without their folders."""
    leaves = [" + ".join(name.rsplit("/", 1)[-1] for name in one.split()) for one in names]
    return " or ".join(f"`{one}`" for one in dict.fromkeys(leaves)) or "none"


# --- docs/physics.md


def constants() -> str:
    """Every link by name, and every constant of its limits."""
    lines = [
        "## Links\n",
        "| name | line rate after encoding | attainable | latency floor |",
        "|---|---|---|---|",
        *(_link(name) for name in link_names()),
        "\nAttainable is at the largest MTU; with `--link 1gbe` at MTU 1500 it is 117.7 MB/s.\n",
        "## Constants\n",
        "| name | value | unit | L | source |",
        "|---|---|---|---|---|",
    ]
    for key, row in default_table().items():
        literature = "L" if row.literature else ""
        lines.append(f"| `{key}` | {row.value:g} | {row.unit} | {literature} | {row.source} |")
    return "\n".join(lines) + "\n"


def _link(name: str) -> str:
    link = link_from_name(name)
    found = limits(link, "pingpong", "latency", 0)
    line_rate = "-" if link.rate_bits_per_s is None else f"{link.rate_bits_per_s / 1e9:.4g} Gb/s"
    attainable = found.attainable_bytes_per_s
    most = "-" if attainable is None else quantity.rate(attainable)
    return f"| `{name}` | {line_rate} | {most} | {(found.floor_ns or 0) / 1e3:g} µs |"


# --- docs/settings.md


def settings() -> str:
    """Each setting of the catalogue, by its group."""
    groups: dict[str, list[Setting]] = {}
    for entry in catalogue().entries.values():
        groups.setdefault(entry.setting.group, []).append(entry.setting)
    lines = []
    for group, found in sorted(groups.items()):
        lines += [f"## {group}", "", "| setting | should be | why | effect | fix |"]
        lines += ["|---|---|---|---|---|", *(_setting(one) for one in found), ""]
    return "\n".join(lines)


def _setting(one: Setting) -> str:
    named = one.wanted or one.good
    wanted = "; ".join(t if profile == "any" else f"{profile}: {t}" for profile, t in named.items())
    cells = (
        f"`{one.id}`: {one.title}",
        wanted,
        f"{one.meaning} {one.why}",
        effect_text(one.effect),
        _fix(one),
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


_ANY = Instance("LABEL", {"nic": "NIC", "device": "DEVICE", "port": "PORT"}, {})


def _fix(one: Setting) -> str:
    """The fix on an interface NIC; a value that the profile or the hardware decides is VALUE."""
    if one.fix is None:
        return ""
    given = one.fix.value
    plain = set(given) == {"any"} and not given["any"].startswith("=")
    place = filled(one.reads[0].file, _ANY) if one.reads else ""
    text = fix_text(remedy_with(one.fix, _ANY, place, given["any"] if plain else "VALUE"))
    if plain or not given:
        return text
    said = [
        t.lstrip("=") if profile == "any" else f"{profile}: {t}" for profile, t in given.items()
    ]
    return f"{text}; VALUE: {', '.join(said)}"


# --- docs/adapters.md


def adapters(families: Iterable[Family]) -> str:
    """Each adapter with its counters."""
    return "\n".join(_section(family) for family in families)


def _section(family: Family) -> str:
    names = [
        *(f"`{driver}`" for driver in family.drivers),
        *(f"kind `{kind}`" for kind in family.kinds),
    ]
    lines = [f"## {family.name}", "", f"Drivers: {', '.join(names)}. Source: {family.source}.", ""]
    if family.blind:
        lines += [f"Blind: {', '.join(_CARRIERS[carrier] for carrier in family.blind)}.", ""]
    if family.stacked:
        lines += ["The interfaces beneath it count its bytes again.", ""]
    if family.note:
        lines += [family.note, ""]
    if family.rows:
        lines += [
            "| counter | what | level | refresh | remarks | source |",
            "|---|---|---|---|---|---|",
        ]
        lines += [_line(row) for row in family.rows]
        lines.append("")
    return "\n".join(lines)


def _line(row: CounterRow) -> str:
    counter = _counter(row.tx)
    where = "" if row.where == "any" else f", {row.where} ports"
    where += "" if row.function == "any" else f", {row.function} function"
    refresh = f"{row.refresh_ms:g} ms" if row.refresh_ms else ""
    cells = (
        counter,
        _CARRIERS[row.carrier] + where,
        _LEVELS[row.level],
        refresh,
        _remarks(row),
        row.source,
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _counter(names: tuple[str, ...]) -> str:
    first = names[0].replace("{nic}", "NIC").replace("{device}", "DEVICE").replace("{port}", "PORT")
    return f"`{first}`" + (f" and {len(names) - 1} more" if len(names) > 1 else "")


def _remarks(row: CounterRow) -> str:
    remarks = [f"{row.unit} bytes per count"] if row.unit != 1 else []
    remarks += [f"{row.width} bits" + (" that peg" if row.pegs else "")] if row.width != 64 else []
    remarks += [_QUALITIES[row.quality]] if row.quality in _QUALITIES else []
    remarks += ["with check sequences"] if row.fcs else []
    remarks += (
        [f"misses {row.misses}"] if row.misses and not row.misses.startswith("nothing") else []
    )
    remarks += [f"stands still with {row.stops}"] if row.stops else []
    return "; ".join(remarks)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python tools/pages.py FOLDER")
    lay_out(Path(sys.argv[1]))
