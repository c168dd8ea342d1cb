"""Rules for batch scripts and for what is mistyped in any script."""

from __future__ import annotations

from wireproof.lint.rule import Rule

__all__ = ["RULES"]

_SBATCH = "https://slurm.schedmd.com/sbatch.html"
_POSIX = "https://pubs.opengroup.org/onlinepubs/9699919799/utilities/V3_chap02.html"

RULES: tuple[Rule, ...] = (
    Rule(
        "shebang-option",
        "The shell in the first line has no such option.",
        "The script stops at once with 'invalid option'; -l (a login shell) was meant where -I is "
        "written.",
        "#!/bin/bash -l",
        "bash(1), options; https://www.gnu.org/software/bash/manual/html_node/Invoking-Bash.html",
        safe=True,
    ),
    Rule(
        "shebang-not-first",
        "#! is not at the very beginning of the file.",
        "sbatch refuses it: 'This does not look like a batch script'; the kernel does not see "
        "which shell is meant.",
        "#!/bin/bash in line 1, column 1",
        _SBATCH,
    ),
    Rule(
        "shebang-missing",
        "A batch script begins without #!.",
        "sbatch refuses it: 'This does not look like a batch script'.",
        "#!/bin/bash",
        _SBATCH,
    ),
    Rule(
        "dos-line-ends",
        "The lines of the script end as on Windows.",
        "sbatch refuses it ('DOS line breaks'); the kernel looks for a shell whose name ends in a "
        "carriage return.",
        "sed -i 's/\\r$//' FILE",
        _SBATCH + "; execve(2), interpreter scripts",
    ),
    Rule(
        "sbatch-after-command",
        "An #SBATCH line comes after the first command.",
        "sbatch stops to read options there: the line is a comment and the option is not set.",
        "all #SBATCH lines before the first command",
        _SBATCH
        + " (description: processing stops at the first line that is neither comment nor blank)",
    ),
    Rule(
        "sbatch-misspelt",
        "This looks like an #SBATCH line, but is a comment.",
        "Only lines that begin with #SBATCH, in capitals and without a blank, are read.",
        "#SBATCH -N 2",
        _SBATCH,
        severity="warning",
    ),
    Rule(
        "sbatch-unknown-option",
        "sbatch has no such option.",
        "The script is refused at submission.",
        "the option that is spelt nearly so",
        _SBATCH,
    ),
    Rule(
        "sbatch-equals",
        "The = of an #SBATCH option is not where it belongs.",
        "A short option takes the = as part of its value, a long one wants no blank around it: "
        "the value is wrong.",
        "#SBATCH -N 2, or #SBATCH --nodes=2",
        _SBATCH,
        safe=True,
    ),
    Rule(
        "sbatch-repeated",
        "The same #SBATCH option is given twice with different values.",
        "The last one counts; whoever reads the first is misled.",
        "one line per option",
        _SBATCH,
        severity="warning",
    ),
    Rule(
        "sbatch-variable",
        "A shell variable is used in an #SBATCH line.",
        "No shell reads these lines: the name stays as it is, and the output goes to a file of "
        "that name or is lost.",
        "#SBATCH -o result.%j.out",
        _SBATCH + " (filename pattern)",
    ),
    Rule(
        "sbatch-counts-disagree",
        "The counts of nodes, tasks and tasks per node do not fit together.",
        "Slurm refuses the job or changes one of them, so the ranks are not where the script says.",
        "--ntasks = --nodes x --ntasks-per-node",
        _SBATCH + " (--ntasks-per-node)",
    ),
    Rule(
        "typographic-dash",
        "A typographic dash is in the place of an option's hyphen.",
        "The program takes the word for a file, a host or a number, or stops; the option is not "
        "set.",
        "-c",
        "POSIX Utility Syntax Guidelines, 12.2: an option begins with the hyphen-minus",
        safe=True,
    ),
    Rule(
        "typographic-quote",
        "A typographic quotation mark is in the place of an ASCII one.",
        "The shell takes it for a letter: the blank behind it ends the word.",
        'OPTIONS="-a -b"',
        _POSIX + " (quoting)",
        safe=True,
    ),
    Rule(
        "invisible-character",
        "An invisible character (a no-break or zero-width blank) is in a command.",
        "The shell takes it for a letter, so two words become one that no program knows.",
        "a plain blank",
        _POSIX + " (token recognition)",
        safe=True,
    ),
    Rule(
        "blank-after-backslash",
        "A blank follows the backslash at the end of the line.",
        "The backslash then quotes the blank and does not continue the line: the next line is a "
        "command of its own.",
        "mpirun -n 2 \\",
        _POSIX + " (escape character)",
        safe=True,
    ),
    Rule(
        "backslash-inside-line",
        "A lone backslash is inside a line.",
        "It makes the blank behind it part of the next word, which then begins with a blank.",
        "nothing, or a line end behind the backslash",
        _POSIX + " (escape character)",
        safe=True,
    ),
    Rule(
        "assignment-blank",
        "There are blanks around the = of an assignment.",
        "The shell exports names without values, or runs the name as a program.",
        "export FI_PROVIDER=tcp",
        _POSIX + " (variable assignment)",
        safe=True,
    ),
)
