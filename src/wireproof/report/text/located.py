"""What was located, as lines for a terminal: culprits, what was cleared, contention, tiers, what is
missing.
"""

from __future__ import annotations

from wireproof.model.located import Located
from wireproof.report.json.located import LocateDocument
from wireproof.report.judged_run import JudgedRun
from wireproof.report.located import MOST_LINES, CulpritRow, Story, metric_value, stories
from wireproof.report.text.look import Look

__all__ = ["document_lines", "located_lines", "story_lines"]

_LIKELY = 0.9
"""Below this confidence another cause may explain it as well."""
_MOST_CAUSES = 2


def located_lines(section: JudgedRun) -> list[str]:
    """Lines without line breaks, indented by two blanks below each title; none where nothing was
    located.
    """
    return story_lines(section.located)


def story_lines(located: tuple[Located, ...]) -> list[str]:
    """The same without a section: for what was located and not measured by us."""
    return [line for story in stories(located) for line in _story(story)]


def document_lines(found: LocateDocument, look: Look) -> list[str]:
    """What was located in a table or a folder, and the pairs that are farthest below the others."""
    undecided = [f"  {sentence}" for sentence in found.undecided]
    lines = [*story_lines(found.located), *undecided, *_far_pairs(found)]
    return [" " * (len(line) - len(line.lstrip())) + look.say(line.strip()) for line in lines]


def _far_pairs(found: LocateDocument) -> list[str]:
    metric, practical = found.located[0].metric, found.located[0].practical
    far = [pair for pair in found.worst_pairs if 1 - pair.ratio > practical]
    title = ["Pairs farthest below what both their nodes do elsewhere"] if far else []
    return title + [
        f"{pair.origin} -> {pair.target}: {metric_value(metric, pair.value)},"
        f" {pair.ratio:.0%} of that"
        for pair in far
    ]


def _story(story: Story) -> list[str]:
    lines = [story.title, *_culprits(story)]
    if story.cleared:
        lines.append(f"  cleared (suspected by the screen, good alone): {story.cleared}")
    lines += [f"  no fault: {sentence}" for _, _, _, sentence in story.contention[:MOST_LINES]]
    if len(story.contention) > MOST_LINES:
        lines.append(f"  no fault, but contention: {len(story.contention) - MOST_LINES} more")
    if len(story.tiers) > 1 or any(slower for *_, slower in story.tiers):
        lines.append(f"  paths: {'; '.join(_paths(story)[:MOST_LINES])}")
    lines += [f"  no sample of {nodes}: {reason}" for nodes, reason in story.missing]
    lines.append(f"  {story.silence}")
    return lines


def _culprits(story: Story) -> list[str]:
    if not story.culprits:
        return ["  no node stands out"]
    lines = [line for culprit in story.culprits[:MOST_LINES] for line in _culprit(culprit)]
    left = len(story.culprits) - MOST_LINES
    return (
        [*lines, f"  and {left} more; all are in the report and in --json"] if left > 0 else lines
    )


def _paths(story: Story) -> list[str]:
    return [
        f"{name} {median}" + (f" ({slower})" if slower else "")
        for name, median, _, slower in story.tiers
    ]


def _culprit(culprit: CulpritRow) -> list[str]:
    lines = [f"  {culprit.who} {culprit.what}: {culprit.value}, {culprit.loss}; {culprit.sure}"]
    enough = [cause for cause in culprit.causes if cause.explains]
    lacking = [cause for cause in culprit.causes if not cause.explains]
    for cause in enough[:_MOST_CAUSES]:
        # what a setting's sentence says already is not said again
        seen = f" ({cause.evidence[0]})" if cause.evidence and not cause.setting else ""
        word = "cause" if cause.confidence >= _LIKELY else "possible cause"
        lines.append(f"    {word}, confidence {cause.confidence:.2g}: {cause.sentence}{seen}")
    if not culprit.confirmed:
        lines += [f"    {sentence}" for sentence in culprit.evidence[:_MOST_CAUSES]]
    if not enough and (culprit.causes or culprit.confirmed):
        lines.append("    cause: no counter or configuration difference explains it")
    return lines + [f"    not the cause: {cause.sentence}" for cause in lacking[:_MOST_CAUSES]]
