"""``wireproof.tune_try``, ``.study``, ``.ladder`` and ``.measure_gain``, and the specifications of
experiments from options as typed, for them and for the command line.
"""

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, cast

from wireproof.experiment.ladder import Ladder
from wireproof.experiment.ladder.job import LadderSpecification, methods_of, run_ladder
from wireproof.experiment.ladder.launched import layers_of, model_step_of
from wireproof.experiment.rails import measure_gain as run_gain
from wireproof.experiment.study import Study
from wireproof.experiment.study.job import StudySpecification, library_called, run_study
from wireproof.experiment.trial import TrialSpecification, run_trial
from wireproof.experiment.trial_pattern import OwnCommand
from wireproof.measure.session import Method, Storage
from wireproof.measure.specification import MeasureSpecification
from wireproof.model.errors import BadInput
from wireproof.model.experiment import RailGain, TryResult
from wireproof.options.knobs import is_of_a_fabric, knob_of, metric_reader, names_of, values_of
from wireproof.options.sizes import parse_duration
from wireproof.options.table import Options
from wireproof.report.reporter import LoggingReporter, Reporter
from wireproof.tune.node import JournalPlace
from wireproof.watch.prove import ProofOptions
from wireproof.watch.prove import specification as proof_specification
from wireproof.workflow.api import MEASURE, environment_of, resolved, storage_of, with_options

SIZES = {"pingpong": 8, "stream": 1 << 20, "exchange": 1 << 20, "message_rate": 8}
"""The patterns of a trial, with the default size of their messages in bytes."""
UNITS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


@with_options(
    "sizes",
    "ppn",
    pattern="",
    metric="",
    better=None,
    smallest=5.0,
    budget_s=60.0,
    server=(),
    profile="throughput",
    allow_link_down=False,
    state="",
    keep=False,
)
def tune_try(
    knob: str, argv: Sequence[str] = (), *, reporter: Reporter | None = None, **options: Any
) -> TryResult:
    """Measure whether a setting helps here: ``VAR=A,B`` or ``ID=A,B``, as on the command line.

    ``argv``: the command of the runs; without it, they measure ``pattern``. ``smallest``: in per
    cent. The result is the document that ``wireproof tune try --json`` prints. Raises ``BadInput``
    for options that cannot be used and ``CouldNotMeasure`` if a run fails.
    """
    settings = resolved({**options, "profile": None})  # this is not check's profile
    environment = environment_of(options)
    wanted = trial_of(knob, argv, settings, options, environment, storage_of(settings))
    return run_trial(wanted, reporter or LoggingReporter(), environment)


@with_options("ppn", knobs=(), values=None, over=(), each="150ms", smallest=3.0)
def study(library: str, *, reporter: Reporter | None = None, **options: Any) -> Study:
    """Find the settings of a library that take effect here, and those that help.

    ``library``: psm3, ucx, ofi, impi or a file. ``values``: values by knob. ``budget``: time limit
    of the study (default 5 min); ``each``: time of one point; ``smallest``: in per cent. The result
    is the document that ``wireproof study --json`` prints. Raises as ``tune_try`` does.
    """
    settings = resolved({**options, "budget": options["each"]})
    more = {
        "knobs": ",".join(options["knobs"]),
        "values": (),
        "over": ",".join(options["over"]),
        "ppn": options.get("ppn") or 1,
        "study_budget": str(options.get("budget") or "5min"),
        "smallest": options["smallest"],
    }
    wanted = study_of(library, settings, more, Method.from_options(settings), storage_of(settings))
    values = {name: tuple(map(str, tried)) for name, tried in (options["values"] or {}).items()}
    wanted = dataclasses.replace(wanted, values=values)
    return run_study(wanted, reporter or LoggingReporter(), environment_of(options))


@with_options(
    "sizes",
    layers=(),
    pattern="",
    metric="",
    unit="us",
    rounds=None,
    smallest=25.0,
    collective="allreduce",
    model_steps=(),
)
def ladder(argv: Sequence[str] = (), *, reporter: Reporter | None = None, **options: Any) -> Ladder:
    """Measure two hosts layer by layer, and find the layer that loses time or rate.

    ``argv``: the command of the topmost layer, the application. ``smallest``: in per cent. The
    result is the document that ``wireproof ladder --json`` prints. Raises as ``tune_try`` does.
    """
    settings = resolved(options)
    more = {**options, "layers": ",".join(options["layers"])}
    wanted = ladder_of(argv, settings, more, storage_of(settings))
    return run_ladder(wanted, reporter or LoggingReporter(), environment_of(options))[0]


@with_options(*MEASURE, rounds=None)
def measure_gain(
    pattern: str = "stream", *, reporter: Reporter | None = None, **options: Any
) -> RailGain:
    """Measure what several rails (``nic="hsn0,hsn1"``) gain over each rail alone.

    The result is the document that ``wireproof measure --gain --json`` prints. Raises as
    ``tune_try`` does.
    """
    settings = resolved(options)
    wanted = MeasureSpecification.of(settings, storage_of(settings), pattern=pattern)
    reporter = reporter or LoggingReporter()
    return run_gain(wanted, reporter, environment_of(options), rounds=options["rounds"])[0]


# --- The specifications, from options as typed. They raise ``BadInput``.


def trial_of(
    knob: str,
    argv: Sequence[str],
    settings: Options,
    options: Mapping[str, Any],
    environment: Mapping[str, str],
    storage: Storage,
) -> TrialSpecification:
    """Return the specification of a trial."""
    tried = knob_of(knob, _catalogue(knob), environment)
    if not argv and tried.kind == "variable" and not is_of_a_fabric(tried.name):
        raise BadInput(
            f"{tried.name} is neither a setting (`wireproof audit --list`) nor a variable that an"
            " MPI or its fabric reads: give the command that reads it after --."
        )
    return TrialSpecification(
        knob=tried,
        workload=(
            _command(tuple(argv), settings, options, environment)
            if argv
            else _pattern(settings, options)
        ),
        seed=Method.from_options(settings).chosen_seed(),
        smallest=options["smallest"] / 100.0,
        budget_s=options["budget_s"],
        keep=options["keep"],
        profile=options["profile"],
        place=JournalPlace(state=options["state"]),
        allow_link_down=options["allow_link_down"],
        storage=storage,
    )


def _catalogue(knob: str) -> Collection[str]:
    """Return the catalogue's names, unless the knob is clearly a variable."""
    if knob.partition("=")[0].isupper():
        return ()
    from wireproof.audit.job import catalogue

    return catalogue().entries


def _pattern(settings: Options, options: Mapping[str, Any]) -> MeasureSpecification:
    if options["metric"] or options["better"] or options["server"]:
        raise BadInput("--metric, --better and --server need a COMMAND: give it after --.")
    pattern = options["pattern"] or "pingpong"
    if pattern not in SIZES:
        raise BadInput(f"--pattern {pattern[:40]!r} is not one of {', '.join(SIZES)}.")
    sized = dataclasses.replace(settings, sizes=settings.sizes or (SIZES[pattern],))
    method = Method.from_options(settings)
    return MeasureSpecification.of(sized, Storage(), pattern=pattern, method=method)


def _command(
    argv: tuple[str, ...],
    settings: Options,
    options: Mapping[str, Any],
    environment: Mapping[str, str],
) -> OwnCommand:
    if options["pattern"]:
        raise BadInput("--pattern and a command exclude each other: give one of them.")
    if bool(options["metric"]) != bool(options["better"]):
        raise BadInput("--metric needs --better lower or --better higher, and vice versa.")
    given = {name: options.get(name) for name in ("lab", "server", "prefix", "sysfs_root")}
    known = {name: value for name, value in given.items() if value is not None}
    return OwnCommand(
        proof=proof_specification(argv, settings, cast("ProofOptions", known), environment),
        claimed=bool(settings.nic or settings.link),
        reader=metric_reader(options["metric"]) if options["metric"] else None,
        text=options["metric"],
        better=options["better"] or "lower",
        longest_s=options["budget_s"],
    )


def study_of(
    library: str, settings: Options, options: Mapping[str, Any], method: Method, storage: Storage
) -> StudySpecification:
    """Return the specification of a study."""
    return StudySpecification(
        library=library_called(library),
        target=settings,
        method=method,
        knobs=names_of(options["knobs"], "--knobs"),
        values=values_of(options["values"]),
        over=names_of(options["over"], "--over"),
        ppn=options["ppn"],
        budget_s=parse_duration(options["study_budget"]),
        smallest=options["smallest"] / 100.0,
        seed=method.chosen_seed(),
        storage=storage,
    )


def ladder_of(
    argv: Sequence[str], settings: Options, options: Mapping[str, Any], storage: Storage
) -> LadderSpecification:
    """Return the specification of a ladder."""
    if argv and options["pattern"]:
        raise BadInput("--pattern and a command exclude each other: give one of them.")
    if options["metric"] and not argv:
        raise BadInput("--metric is for a command: give the command after --.")
    mpi, ofi = methods_of(settings)
    return LadderSpecification(
        target=settings,
        mpi=mpi,
        ofi=ofi,
        storage=storage,
        layers=layers_of(options["layers"]),
        rounds=options["rounds"],
        sizes=settings.sizes,
        smallest=options["smallest"] / 100.0,
        collective=options["collective"],
        model_steps=tuple(map(model_step_of, options["model_steps"])),
        pattern=options["pattern"] or "",
        command=tuple(argv),
        number=_number(options),
    )


def _number(options: Mapping[str, Any]) -> Callable[[str], float | None] | None:
    """Return the reader of --metric, in ns."""
    if not options["metric"]:
        return None
    read, scale = metric_reader(options["metric"]), UNITS[options["unit"]]
    return lambda output: None if (value := read(output)) is None else value * scale
