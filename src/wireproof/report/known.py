"""The catalogues as documents: published numbers (for each link and pattern a strip of dots, the
values, and the sources), and the output of ``wireproof explain``: entries of catalogues, lists of
them, and a rate or a time in every unit; and the output of ``wireproof doctor``.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from wireproof.model import gathered, quantity
from wireproof.model.atlas import AtlasView, Spread
from wireproof.model.claim import LinkClaim
from wireproof.model.diagnosis import (
    Capability,
    Diagnosis,
    LibfabricFound,
    Provider,
    ProviderChoice,
    ProviderReport,
    TransportTried,
)
from wireproof.model.quantity import Converted, LinkShares
from wireproof.report.document import (
    Document,
    Dots,
    Facts,
    Findings,
    Head,
    Item,
    Part,
    Picture,
    Row,
    Section,
    Table,
    Text,
    Tone,
)

_AT = {"time": 8, "goodput": 1 << 20}
_LINKS = (Head("link", 9, left=True), Head("sources", 8))
_ROWS = (
    Head("value", 9),
    Head("at", 8),
    Head("source: adapter, tool, MPI", 7, left=True),
)
_Shown = tuple[float, int, Spread]


def atlas_document(found: AtlasView, *, listed: bool, at: int | None) -> Document:
    """Return published numbers. ``listed``: only the links with their numbers of sources; ``at``:
    the message size of the values.
    """
    title = "Published numbers"
    if not found.series:
        none = "the atlas has no such number: docs/atlas.md describes how to add one"
        return Document(title, none, ())
    parts: list[Part] = [Text(f"of the site: {name}", "note") for name in found.files]
    if listed and at is None:
        rows = tuple(Row((name, str(count))) for name, count in found.links.items())
        parts.insert(0, Table(_LINKS, rows, most=len(rows)))
    else:
        parts = [*_groups(found, at), *parts]
    counts = f"{quantity.counted(found.sources, 'source')}, {quantity.counted(found.rows, 'row')}"
    return Document(title, f"{counts}; every row is within the limits of its link", tuple(parts))


def _groups(found: AtlasView, at: int | None) -> Iterator[Part]:
    from wireproof.report.figure.series import atlas_chart

    groups = gathered(
        ((one.link, one.pattern, one.quantity), (*place, one))
        for one in found.series
        if (place := shown_value(one, at)) is not None
    )
    for (link, pattern, what), rows in groups.items():
        rows.sort(key=lambda row: row[0], reverse=what == "goodput")
        yield _group(f"{link} {pattern}: {len(rows)} series", rows)
    yield Picture(lambda: (atlas_chart(found),))
    shown = {one.source: one for rows in groups.values() for _, _, one in rows}
    about = (
        (one.source, f"({f'{one.trust} {one.date}'.strip()}) {one.title}; {one.where}")
        for one in sorted(shown.values(), key=lambda one: one.source)
    )
    yield Section("Sources", (Facts(tuple(about)),))


def _group(title: str, rows: Sequence[_Shown]) -> Section:
    strip = Dots(tuple(value for value, _, _ in rows), rows[0][2].quantity)
    table = Table(_ROWS, tuple(map(_row, rows)), most=len(rows))
    return Section(title, (Facts((("", strip),)), table))


def _row(found: _Shown) -> Row:
    value, size, one = found
    shown = quantity.short_time if one.quantity == "time" else quantity.throughput
    about = ", ".join(filter(None, (one.adapter, one.tool, one.mpi, one.judged)))
    own = f" [{one.file}]" if one.file else ""
    at = quantity.size(size) if size else "peak"
    return Row((shown(value), at, f"{one.source}{own}: {about}"))


def shown_value(one: Spread, at: int | None) -> tuple[float, int] | None:
    """Return (value in ns or bytes/s, size) at the requested size, or at the printed size closest
    to the default.
    """
    wanted = (_AT[one.quantity] if at is None else at).bit_length()
    near = min(one.si, key=lambda row: abs(row[0].bit_length() - wanted), default=None)
    return (near[1], near[0]) if near is not None else None


# --- Entries of catalogues, lists of them, and a rate or a time in every unit.

Explained = tuple[str, Sequence[tuple[str, str]]]
"""The title of an entry, and its paragraphs with their headings."""


def explanation_document(found: Sequence[Explained]) -> Document:
    """Return one entry, or all entries with the same name; only titles if none has paragraphs."""
    if not any(rows for _, rows in found):
        titles = [title.partition(": ") for title, _ in found]
        named = {code: title for code, _, title in titles}
        return titles_document("Entries", "wireproof explain CODE", {"": named})
    parts = [(title, Facts(tuple(rows))) for title, rows in found]
    if len(parts) == 1:
        ((title, facts),) = parts
        return Document(title.partition(":")[0], title, (facts,))
    return Document("Explanations", "", tuple(Section(title, (facts,)) for title, facts in parts))


def titles_document(title: str, how: str, groups: Mapping[str, Mapping[str, str]]) -> Document:
    """Return a catalogue as a list of names with titles for each group; a group "" has no heading.
    ``how``: the command that shows an entry.
    """
    lists = {name: (Facts(tuple(titles.items())),) for name, titles in groups.items()}
    parts = (Section(name, facts) if name else facts[0] for name, facts in lists.items())
    answer = f"{sum(map(len, groups.values()))} {title.lower()}; `{how}` shows one in full"
    return Document(title, answer, tuple(parts))


# --- A rate or a time converted to every unit, with the arithmetic, and the list of links.

_UNITS = (Head("value", 9, left=True), Head("arithmetic", 8, left=True))
_KNOWN_LINKS = (
    Head("link", 9, left=True),
    Head("rate", 8),
    Head("protocol", 7, left=True),
)


def conversion_document(found: Converted) -> Document:
    """Return the arithmetic that leads to the value, the value in every unit, and its shares of a
    link.
    """
    first, *more = [*filter(None, [_share(found)]), *(found.arithmetic or [found.value])]
    rows = tuple(Row((row.text, row.arithmetic)) for row in found.rows)
    parts: list[Part] = [*map(Text, more), Table(_UNITS, rows, most=len(rows))]
    if found.bytes_per_s is None and found.kind != "amount":
        words = "give --size BYTES for the goodput of one message in this time or at this rate"
        parts.append(Text(words))
    parts += [Text(f"note: {found.remark}")] if found.remark else []
    parts += [Section(found.link.kind, tuple(_shares(found.link)))] if found.link else []
    return Document(f"{found.value} in every unit", first, tuple(parts))


def _share(converted: Converted) -> str:
    """Return the share of the link that a rate reaches; "" for a time, which has no share."""
    share = converted.link.share_of_attainable if converted.link else None
    if converted.link is None or converted.kind == "time" or not isinstance(share, float):
        return ""
    if abs(share - 1) < 1e-6 and converted.bytes_per_s:  # a link was asked for, not a rate
        rate = quantity.throughput(converted.bytes_per_s)
        return f"{converted.link.kind} can carry {rate} of payload"
    return f"{converted.value} is {share:.1%} of the maximum of {converted.link.kind}"


def _shares(link: LinkShares) -> Iterator[Text]:
    yield from map(Text, (*link.derivation, *link.arithmetic))
    yield from (Text(f"WARNING: {line}", "warning") for line in link.warnings)


def links_document(links: Iterable[LinkClaim]) -> Document:
    """Return the links that --link accepts, with their rates."""
    rows = []
    for one in links:
        rate = f"{one.rate_bits_per_s / 1e9:g} Gb/s" if one.rate_bits_per_s else "no rate"
        rows.append(Row((one.kind, rate, one.protocol)))
    return Document("Links", "", (Table(_KNOWN_LINKS, tuple(rows), most=len(rows)),))


# --- The capabilities of this machine, and its libfabric providers.

_CAPABLE: dict[bool | None, tuple[Tone, str]] = {
    True: ("pass", "ok"),
    False: ("fail", "MISSING"),
    None: ("inconclusive", "unknown"),
}
_STATES: dict[str, tuple[Tone, str]] = {
    "usable": ("pass", "ok"),
    "other-endpoints": ("inconclusive", "partly"),
    "missing": ("note", "missing"),
}


def diagnosis_document(found: Diagnosis) -> Document:
    """Return the machine, its capabilities, and each transport that was tried."""
    machine = found.machine
    who = "root" if machine.root else "an ordinary user"
    where = f"Linux {machine.kernel}, {machine.architecture}, {machine.cores} cores, {who}"
    working = sum(answer.works for answer in found.transports)
    answer = (
        f"{working} of {quantity.counted(len(found.transports), 'transport')} work here"
        if found.transports
        else "no transport was tried"
    )
    able = Findings(tuple(_capability(each) for each in machine.capabilities))
    parts: list[Part] = [Text(where), Section("This machine", (able,))]
    if found.transports:
        tried = Findings(tuple(_answer(each) for each in found.transports))
        parts.append(Section("Transports and MPIs", (tried,)))
    return Document("What works on this machine", answer, tuple(parts))


def _capability(capability: Capability) -> Item:
    tone, word = _CAPABLE[capability.works]
    wanted = capability.advice and capability.works is not True
    details = (("next", capability.advice),) if wanted else ()
    return Item(tone, f"{capability.name}: {capability.detail}", details=details, word=word)


def _answer(answer: TransportTried) -> Item:
    if not answer.works:
        return Item("fail", f"{answer.name}: {answer.problem}", word="FAILS")
    if answer.abi == "mpiabi":
        abi = f"standard ABI {answer.abi_version}"
    else:
        abi = f"{answer.abi} ABI" if answer.family else "no MPI"
    engine = f", {answer.engine}" if answer.engine else ""
    replied = f"answered in {answer.seconds} s: {answer.library or answer.name}"
    return Item("pass", f"{answer.name}: {abi}{engine}, {replied}", word="ok")


def provider_document(found: ProviderReport) -> Document:
    """Return each library with its providers, then each MPI with the steps that lead to its
    choice.
    """
    usable = [
        provider.name
        for library in found.libfabrics
        for provider in library.providers
        if provider.state == "usable"
    ]
    names = ", ".join(dict.fromkeys(usable)) or "none"
    parts = [_library(library) for library in found.libfabrics]
    if found.choices:
        steps = tuple(_choice(choice) for choice in found.choices)
        parts.append(Section("What each MPI uses between hosts", (Findings(steps),)))
    return Document("libfabric providers", f"providers that can be measured: {names}", tuple(parts))


def _library(library: LibfabricFound) -> Section:
    where = f"{library.path} ({library.origin})"
    if library.problem:
        return Section(where, (Findings((Item("fail", f"cannot be used: {library.problem}"),)),))
    items = [_provider(provider) for provider in library.providers]
    items += [Item("warning", warning) for warning in library.warnings]
    return Section(f"libfabric {library.version}: {where}", (Findings(tuple(items)),))


def _provider(provider: Provider) -> Item:
    tone, word = _STATES[provider.state]
    layered = [name for name in provider.names if name != provider.name]
    names = f" (as {', '.join(layered)})" if layered else ""
    domains = f" on {', '.join(provider.domains)}" if provider.domains else ""
    reason = f": {provider.reason}" if provider.reason else ""
    details = tuple(("warns", warning) for warning in provider.warnings)
    return Item(tone, f"{provider.name}{names}{domains}{reason}", details=details, word=word)


def _choice(choice: ProviderChoice) -> Item:
    text = f"{choice.mpi}: {choice.provider or 'no provider of libfabric'}"
    return Item("", text, details=tuple(("because", step) for step in choice.why))
