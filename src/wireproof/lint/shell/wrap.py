"""Programs that start other programs, and which of their options take a value."""

from __future__ import annotations

from wireproof.lint.shell.command import Word

__all__ = ["LAUNCHERS", "inner", "launched"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Options that take one value, by wrapper. Options with ``=`` need no entry. Source: each program's
# manual page.
_VALUES: dict[str, frozenset[str]] = {
    name: _words(options)
    for name, options in {
        "sudo": "-u -g -h -p -C -r -t --user --group",
        "env": "-u -C -S --unset --chdir",
        "pdsh": "-w -x -R -l -t -u -f -g -G",
        "clush": "-w -x -g -X -f -t -u -l",
        "ssh": "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w",
        "xdsh": "-l -t",
        "psh": "-l -f",
        "time": "-f -o",
        "timeout": "-s -k --signal --kill-after",
        "nohup": "",
        "nice": "-n",
        "chrt": "-p",
        "ionice": "-c -n",
        "exec": "-a",
        "command": "",
        "stdbuf": "-i -o -e",
        "numactl": "-N -m -C -i -p -P --cpunodebind --membind --physcpubind --interleave "
        "--preferred",
        "taskset": "-c -p",
        "wwsh": "",
        "srun": "-n -N -c -t -p -w -x -J -o -e -i -A -C -D -G -m -L -q -r -Z --ntasks --nodes "
        "--ntasks-per-node --mpi --cpu-bind --partition --time --nodelist --output --error "
        "--job-name --gres --exclude --account --constraint --distribution --export --mem "
        "--cpus-per-task --gpus --gpus-per-node --gpus-per-task --network --chdir --qos "
        "--reservation --kill-on-bad-exit --mem-bind --hint --threads-per-core --cpu-freq --wait "
        "--input",
    }.items()
}
_POSITIONAL = {"ssh": 1, "timeout": 1, "xdsh": 1, "psh": 1}

LAUNCHERS = _words(
    "mpirun mpiexec mpiexec.hydra orterun prterun oshrun mpirun.openmpi mpiexec.openmpi "
    "mpirun.mpich mpiexec.mpich mpirun_rsh mpirun.hydra"
)

_LAUNCH_ONE = _words(
    "-n -np --np -c --n -N --npernode -npernode --npersocket -npersocket -ppn --ppn -perhost -grr "
    "-rr-per -H -host --host -hosts --hosts -hostfile --hostfile -machinefile --machinefile "
    "-machine -f -configfile --app -app -x --map-by -map-by --rank-by -rank-by --bind-to -bind-to "
    "--display --output --output-filename -output-filename --prefix -wdir --wdir -wd -path --tune "
    "-tune --am -am -genvlist -envlist -launcher -launcher-exec -bootstrap -bootstrap-exec -rmk "
    "-iface -binding -topolib -demux -outfile-pattern -errfile-pattern --cpu-set --cpu-list "
    "-cpu-set -cpu-list -rf --rankfile -rankfile --timeout -env-file -usize -localhost --stdin "
    "-stdin --personality --dvm --report-uri -s -umask -tmpdir --max-restarts -ranks-per-proc "
    "-arch -file"
)
_LAUNCH_TWO = _words("-mca --mca -gmca --gmca --prtemca -prtemca --pmixmca --omca -genv -env")


def inner(words: tuple[Word, ...]) -> int | None:
    """Where the program begins that the wrapper ``words[0]`` starts; None when it starts none."""
    name = words[0].text.rsplit("/", 1)[-1] if words else ""
    if name in LAUNCHERS:
        return launched(words)
    values = _VALUES.get(name)
    if values is None:
        return None
    positional = _positional(name, words)
    at = 1
    while at < len(words):
        text = words[at].text
        if text == "--":
            return at + 1 if at + 1 < len(words) else None
        if text.startswith(("-", "–", "—")) and len(text) > 1:
            at += 1 + (text in values or "-" + text[1:] in values)
            continue
        if name != "env" or "=" not in text:
            if not positional:
                return at
            positional -= 1
        at += 1
    return None


def _positional(name: str, words: tuple[Word, ...]) -> int:
    """How many words of its own, that are no options, a wrapper has before the program."""
    if name == "taskset" and not any(_affinity(word.text) for word in words[1:3]):
        return 1  # a mask instead of -c LIST
    return _POSITIONAL.get(name, 0)


def _affinity(text: str) -> bool:
    return text in ("-c", "--cpu-list", "-p", "–c", "-cp", "-pc")


def launched(words: tuple[Word, ...]) -> int | None:
    """Where the program begins that an MPI launcher starts; None when the line names none."""
    at = 1
    while at < len(words):
        text = words[at].text
        if text in _LAUNCH_TWO:
            # hydra also takes -genv NAME=VALUE
            at += 2 if at + 1 < len(words) and "=" in words[at + 1].text else 3
        elif text in _LAUNCH_ONE:
            at += 2
        elif text.startswith(("-", "–", "—")) or (
            words[0].text.endswith("mpirun_rsh") and "=" in text
        ):
            at += 1
        else:
            return at
    return None
