"""Checks without measurements, as documents: the capabilities of this machine, its libfabric
providers and its virtual clusters; mistakes in recipes, each with its correction; a verified
dossier.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from wireproof.model.diagnosis import (
    Capability,
    Diagnosis,
    LibfabricFound,
    Provider,
    ProviderChoice,
    ProviderReport,
    TransportTried,
)
from wireproof.model.dossier import Signature, Verification
from wireproof.model.finding import LintFinding, LintReport, Verdict
from wireproof.model.quantity import counted
from wireproof.model.run import Conclusion
from wireproof.model.topology import LabStatus, fallen_behind
from wireproof.report.document import (
    Bar,
    Document,
    Facts,
    Findings,
    Head,
    Item,
    Part,
    Row,
    Section,
    Table,
    Text,
    Tone,
)
from wireproof.report.names import clean

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
        f"{working} of {counted(len(found.transports), 'transport')} work here"
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


# --- Virtual clusters: networks, wire, nodes and planted faults.


def labs_document(found: Sequence[LabStatus]) -> Document:
    """Return a section for each lab; for a single lab, its state is the answer."""
    states = ", ".join(f"{one.name}: {one.state}" for one in found)
    if len(found) == 1:
        return Document("Virtual cluster", states, tuple(_parts(found[0])))
    answer = f"{counted(len(found), 'lab')}: {states}" if found else "no lab is up."
    sections = (Section(f"{one.name}: {one.state}", tuple(_parts(one))) for one in found)
    return Document("Virtual clusters", answer, tuple(sections))


def _parts(status: LabStatus) -> Iterator[Text | Facts]:
    behind = fallen_behind(None, status.wire) if _is_wired(status) else ""
    for note in (*status.notes, *([behind] if behind else [])):
        yield Text(f"NOTE: {note}", "warning")
    yield Facts(tuple(_rows(status)))


def _is_wired(status: LabStatus) -> bool:
    return status.topology is not None and status.topology.serialises


def _rows(status: LabStatus) -> Iterator[tuple[str, str]]:
    for network in status.topology.networks if status.topology else ():
        rate = network.rate or "not shaped"
        yield f"network {network.name}", f"{network.device}, {rate}, MTU {network.mtu}"
    if _is_wired(status):
        yield "wire", _wire(status)
    for node in status.nodes:
        where = ", ".join(f"{name} {address}" for name, address in node.addresses.items())
        yield node.name, f"{'up' if node.alive else 'DEAD'}, {where}"
    for fault in status.faults:
        what = f"{fault.direction} {fault.kind} {fault.value}".strip()
        yield "planted", f"{fault.node} {fault.network} {what}"


def _wire(status: LabStatus) -> str:
    """Return how the links limit their rates, and whether they met these limits."""
    topology, wire = status.topology, status.wire
    latency, loss = (topology.latency, topology.loss) if topology else ("", "")
    words = ["store-and-forward"]
    words += [f"latency {latency}"] if latency else []
    words += [f"loss {loss}"] if loss else []
    if wire is None:
        return f"{', '.join(words)}; DEAD, no node can reach another"
    late = f"{wire.late + wire.starved} of them more than {wire.late_ns / 1e6:g} ms late"
    right = "" if wire.first else "; it has no priority over ordinary processes"
    return f"{', '.join(words)}; {wire.frames} frames, {late}{right}"


# --- Recipes

_FILES = (
    Head("file", 9, left=True),
    Head("errors", 8),
    Head("warnings", 7),
    Head("", 5, left=True),
)


def lint_document(report: LintReport, files: int, *, errors_shown: bool = False) -> Document:
    """Return the findings. ``files``: number of files that could be read. ``errors_shown``: the
    errors were already shown, so omit them."""
    errors = [] if errors_shown else report.errors
    items = [Item("inconclusive", one.message, word="not read:") for one in errors]
    items += [_item(finding) for finding in report.findings]
    parts: list[Part] = [Findings(tuple(items), most=1_000_000, whole=True)] if items else []
    if len(where := _by_file(report)) > 1:
        parts.append(Table(_FILES, tuple(where), "Findings by file"))
    return Document("Recipes", _mistakes(report, files), tuple(parts), report.verdict)


def _mistakes(report: LintReport, files: int) -> str:
    if not files:
        return "nothing could be read"
    errors = sum(finding.severity == "error" for finding in report.findings)
    warnings = len(report.findings) - errors
    counts = [counted(errors, "error")] if errors else []
    counts += [counted(warnings, "warning")] if warnings else []
    unread = f"; not read: {counted(len(report.errors), 'file')}" if report.errors else ""
    return f"{', '.join(counts) or 'no problems found'} in {counted(files, 'file')}{unread}"


def _item(finding: LintFinding) -> Item:
    """Return an item whose place has the form of compiler messages, so that editors jump to it."""
    place = f"{clean(finding.file, 200)}:{finding.line}:{finding.column}: {finding.severity}:"
    tone: Tone = "fail" if finding.severity == "error" else "warning"
    lines = (finding.whole or finding.fix or finding.right).split("\n")
    right = "\n".join(line.strip() for line in lines)
    return Item(tone, finding.message, finding.code, tuple(_details(finding)), place, right)


def _details(finding: LintFinding) -> Iterator[tuple[str, str]]:
    """Yield the reason, and the entry of the catalogue of settings, since outdated advice may still
    be right on some machines.
    """
    yield "why", finding.why
    if finding.setting:
        until = f" (until {finding.setting_until})" if finding.setting_until else ""
        wanted = f": {finding.wanted}" if finding.wanted else ""
        explained = f"wireproof explain {finding.setting}"
        yield "setting", f"{finding.setting}{until}{wanted} ({explained})"


def _by_file(report: LintReport) -> list[Row]:
    count = Counter((finding.file, finding.severity) for finding in report.findings)
    names = {finding.file: None for finding in report.findings}
    rows = [(name, count[name, "error"], count[name, "warning"]) for name in names]
    rows.sort(key=lambda row: (-row[1], -row[2]))
    return [
        Row((name, str(errors), str(warnings), Bar(errors + warnings)))
        for name, errors, warnings in rows
    ]


# --- Dossiers

NOT_SIGNED = (
    "none: checksums reveal accidents, not intent. Anyone who edits files can rewrite SHA256SUMS:"
    " compare its SHA-256 with that of the other party, or have it signed"
    " (`wireproof dossier sign`)"
)
_MOST_CONCLUSIONS = 10
_CRITERIA = (Head("criterion", 9, left=True), Head("value", 8), Head("source", 6, left=True))


def verification_document(found: Verification) -> Document:
    """Return the verdict by the rules of this version, then the result of each check."""
    dossier = found.dossier
    answer = f"{found.files} files, all as sealed {dossier.sealed} by wireproof {dossier.wireproof}"
    chosen = [criterion for criterion in dossier.criteria if criterion.chosen]
    count = f"{len(dossier.criteria)} (criteria.toml), of which {len(chosen)} were chosen"
    rows = (
        ("folder", str(found.folder)),
        ("SHA-256 of SHA256SUMS", found.manifest),
        *(("signature", text) for text in _signatures(found.signatures)),
        ("criteria", count),
        ("records", f"the result follows from them{_page(found.judged.page)}"),
    )
    judged = tuple(Text(line.strip()) for line in _judged(found))
    parts: list[Part] = [Facts(rows), Section("Judged again by the rules of this version", judged)]
    if chosen:
        values = tuple(
            Row(
                (
                    f"{each.name}: {each.about}",
                    f"{each.value} {each.unit if each.unit != '1' else ''}".strip(),
                    each.source,
                )
            )
            for each in chosen
        )
        parts.append(Section("Chosen criteria", (Table(_CRITERIA, values),)))
    return Document("Acceptance dossier", answer, tuple(parts), found.verdict)


def _signatures(signatures: list[Signature]) -> Iterator[str]:
    if not signatures:
        yield NOT_SIGNED
    for each in signatures:
        doubt = "" if each.state != "valid" else "; no trusted signer has that key: give --signers"
        yield f"{each.file}: {each.said}{doubt}"


def _page(page: bool | None) -> str:
    if page:
        return ", and so does report.html"
    return (
        "; report.html was not compared, because another version or platform wrote it: "
        "`wireproof report --out FILE` writes a new page"
    )


def _judged(found: Verification) -> list[str]:
    judged = found.judged
    rules = "the rules are the same" if judged.same_rules else "the rules have changed"
    head, *more = change_lines(
        found.dossier.wireproof, judged.before, judged.verdict, judged.gone, judged.new
    )
    return [f"{head} ({rules})", *more]


def change_lines(
    by: str,
    before: Verdict | None,
    now: Verdict,
    gone: Sequence[Conclusion],
    new: Sequence[Conclusion],
) -> list[str]:
    """Return a line on the verdict, then the conclusions that only one of the judgements has.
    ``by``: the version that judged before, "" if unknown.
    """
    if before is None:
        return ["judged now; this result does not contain its earlier verdict"]
    verdict = (
        f"{now}, as by wireproof {clean(by)}"
        if before == now
        else f"{now} now; wireproof {clean(by)} said {before}"
    )
    same = not gone and not new
    head = f"{verdict}; {'the same findings' if same else 'the findings differ'}"
    return [head, *_listed("no longer", gone), *_listed("new", new)]


def _listed(title: str, found: Sequence[Conclusion]) -> list[str]:
    lines = [
        f"  {title}: {one.severity} {clean(one.code)}"
        + (f" ({clean(one.subject)})" if one.subject else "")
        for one in found[:_MOST_CONCLUSIONS]
    ]
    if len(found) > _MOST_CONCLUSIONS:
        lines.append(f"  {title}: {len(found) - _MOST_CONCLUSIONS} more")
    return lines
