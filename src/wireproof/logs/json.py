"""Judged results of other programs: the JSON of ``wireproof judge`` with its schema.

The document is one object, ``{"series": [...], ..., "verdict": ..., "errors": [...]}``; it is
written series by series, so that ten thousand logs need no more memory than a single log. Within
one version, fields are only added; unknown is null, never 0.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import msgspec

from wireproof.model.atlas import Place
from wireproof.model.claim import LinkClaim
from wireproof.model.errors import Problem
from wireproof.model.finding import Proof, Verdict
from wireproof.model.psm3 import JudgedStatistics
from wireproof.model.series import Reason, Series, SeriesTable, SeriesVerdict
from wireproof.report.json import json_text, schema_of

VERSION = 1


class JudgedSeries(SeriesTable, frozen=True, kw_only=True):
    """One table of one program with its verdict. Units: bytes, bytes/s, ns; ``efficiency`` is best
    / attainable.
    """

    proof: Proof
    verdict: Verdict
    efficiency: float | None
    attainable_bytes_per_s: float | None
    best_bytes_per_s: float | None
    share_of_nominal: float | None
    start_ns: float | None
    explained_by: list[str]
    places: list[Place] = msgspec.field(default_factory=list)
    derivation: list[str]
    reasons: list[Reason]


class JudgementDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The output of ``wireproof judge --json``. ``verdict`` and ``errors`` come last because the
    document is written while files are read. ``errors``: files that could not be judged, with
    the reason.
    """

    schema: Literal["wireproof.judgement"]
    version: Literal[1]
    link: LinkClaim | None
    series: list[JudgedSeries]
    statistics: list[JudgedStatistics] = msgspec.field(default_factory=list)
    verdict: Verdict
    errors: list[Problem]


def joined(series: Series, verdict: SeriesVerdict, link: LinkClaim | None) -> JudgedSeries:
    """Return series and verdict as one flat object."""
    rate = link.line_rate if link is not None else None
    best = verdict.best_bytes_per_s
    table = {name: getattr(series, name) for name in SeriesTable.__struct_fields__}
    share = best * 8 / rate if best is not None and rate else None
    return JudgedSeries(**table, **msgspec.structs.asdict(verdict), share_of_nominal=share)


def encoded(value: msgspec.Struct) -> bytes:
    """Return the JSON of one object. Values that are not finite become null; characters beyond
    ASCII are escaped, so that no name can mislead a terminal.
    """
    return json_text(value).encode()


def document_pieces(
    series: Iterable[bytes],
    link: LinkClaim | None,
    ending: Callable[[], JudgementDocument],
) -> Iterator[bytes]:
    """Yield a :class:`JudgementDocument` piece by piece; ``ending`` is called after the last of
    ``series`` and returns the document without series.
    """
    claim = encoded(link) if link is not None else b"null"
    yield b'{"schema": "wireproof.judgement", "version": %d, "link": %s, "series": [' % (
        VERSION,
        claim,
    )
    separator = b"\n"
    for item in series:
        yield separator + item
        separator = b",\n"
    last = msgspec.structs.asdict(ending())
    rest = json_text({name: last[name] for name in ("statistics", "verdict", "errors")})
    yield b"\n], " + rest.encode().removeprefix(b"{") + b"\n"


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of :class:`JudgementDocument`."""
    return schema_of(JudgementDocument, "wireproof.judgement", VERSION)


# python -m wireproof.logs.json > src/wireproof/logs/judgement.schema.json
if __name__ == "__main__":
    import json
    import sys

    sys.stdout.write(json.dumps(json_schema(), indent=2, sort_keys=True) + "\n")
