"""What the options of a proof mean, and what a proof changes in the process that asks for it."""

import errno
import resource
from pathlib import Path

import pytest

from wireproof.files.streams import descriptor
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.options.resolve import resolve
from wireproof.report.reporter import LoggingReporter
from wireproof.target import Target, this_machine
from wireproof.watch import command as watching
from wireproof.watch.command import allow_files
from wireproof.watch.prove import Companion, ProofOptions, ProofSpecification, specification


def specified(*argv: str, hosts: str = "", **options: object) -> ProofSpecification:
    settings = resolve({"hosts": hosts or None}, {})
    return specification(argv, settings, ProofOptions(**options), {})  # type: ignore[typeddict-item]


def test_without_options_this_machine_is_watched() -> None:
    found = specified("true")
    assert (found.argv, found.interval_s, found.companions) == (("true",), 0.1, ())
    assert (found.target.hosts, found.target.wire) == ((), False)


def test_every_option_is_typed_once(tmp_path: Path) -> None:
    found = specified(
        "mpirun",
        hosts="h[1-2]",
        link="ethernet:25",
        mtu=9000,
        prefix="enter --node",
        sysfs_root="/trees/{host}",
        interval="5ms",
        results=(tmp_path / "out.txt",),
        server=(("h2", "iperf3 -s 'a b'"),),
    )
    assert found.target.hosts == found.target.start_on == ("h1", "h2")
    assert (found.target.link.mtu, found.target.sysfs_root) == (9000, "/trees/{host}")
    assert (found.target.prefix, found.interval_s) == (("enter", "--node"), 0.005)
    assert found.companions == (Companion("h2", ("iperf3", "-s", "a b")),)
    assert found.results == (tmp_path / "out.txt",)


def test_the_nodes_of_a_job_are_watched_and_it_is_said() -> None:
    settings, job = resolve({}, {}), {"SLURM_JOB_NODELIST": "h[1-3]"}
    target = specification(("true",), settings, {}, job).target
    assert target.hosts == ("h1", "h2", "h3")
    assert target.notes == ("watching the 3 nodes of the Slurm job; choose others with --hosts",)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"interval": "2min"}, "out of range"),
        ({"server": (("h1", " "),)}, "no command was given for it"),
        ({"prefix": "'open"}, "close its quotes"),
    ],
)
def test_an_option_that_cannot_be_used_is_named(options: dict[str, object], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        specified("true", **options)
    with pytest.raises(BadInput, match="no command was given"):
        specified()


@pytest.mark.engine
def test_too_few_descriptors_are_an_error_of_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(watching, "Watcher", full)
    with (
        watching.Watch(this_machine(), {}, 0.1, LoggingReporter()) as watch,
        pytest.raises(
            CouldNotMeasure, match="the readers of the ports cannot be started: Too many"
        ),
    ):
        watch.begin()


def test_the_limit_of_open_files_is_raised_as_far_as_it_must(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits, asked = (1024, 4096), []
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda _, found: asked.append(found))
    for count in (2, 400, 4000):
        hosts = tuple(f"h{number}" for number in range(count))
        allow_files(Target(hosts=hosts, start_on=hosts))
    assert asked == [(1664, 4096), (4096, 4096)]
    assert descriptor(object()) is None
