"""The `compass` command: a table of subcommands, each imported only when it is chosen.

A subcommand is a typed function, or a `cyclopts.App` of several. Its docstring is its help: what it does, `Args:`, and
`Examples:`, a command and its meaning per line. It returns its exit status and raises `UserError` for what the user can put
right; `main` prints the message.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import Annotated

from compass.errors import UserError, did_you_mean
from compass.extras import name_missing

try:
    from cyclopts import App, CycloptsError, Group, MissingArgumentError, Parameter, UnusedCliTokensError
except ModuleNotFoundError as error:  # the verifier alone was installed
    sys.exit(name_missing(error, sys.argv[1:]))

COMMANDS = {
    "init": ("compass.commands.init:init", "write a parameter file for your own data, benchmark and model"),
    "run": ("compass.commands.run:run", "run the pipeline, or a part of it: what changed, and nothing else"),
    "watch": ("compass.commands.watch:watch", "follow the run that is going on, in the terminal"),
    "status": ("compass.commands.status:status", "show what runs now, what is stale and why, what a run would do"),
    "plan": (
        "compass.commands.plan:app",
        "forecast a run or an evaluation: tokens, hours and cost, what does not fit, and the chance to find a gain",
    ),
    "profile": ("compass.commands.profile:app", "switch to a complete parameter set, compare two, list them"),
    "rl": ("compass.commands.rl:app", "show what an RL stage would run with"),
    "rollouts": ("compass.commands.rollouts:rollouts", "read the responses that an RL stage learned from"),
    "chat": ("compass.commands.chat:chat", "ask a trained model, and see its answer read and judged"),
    "report": (
        "compass.commands.report:report",
        "write the page of a run, or of two compared: which model is better, by how much (the stage: `compass run report`)",
    ),
    "runs": (
        "compass.commands.runs:app",
        "list the runs that were recorded, compare two, export one, send records that wait",
    ),
    "study": ("compass.commands.study:app", "compare recipes over several seeds: run a study, and show what it found"),
    "curate": ("compass.commands.curate:curate", "run the data stages alone on any files"),
    "data": ("compass.commands.data:app", "download public data sets and benchmarks to where profiles look for them"),
    "why": ("compass.commands.why:why", "show the history of one problem, by its id or its text"),
    "ledger": ("compass.commands.ledger:ledger", "count, filter, sample or browse the rows that curation dropped"),
    "card": ("compass.commands.card:card", "write the data card of a curated set, or upload the set to the hub"),
    "benchmarks": (
        "compass.commands.benchmarks:benchmarks",
        "list the known benchmarks: which are here, and how to get the others",
    ),
    "evaluate": (
        "compass.commands.evaluate:evaluate",
        "score any model on benchmarks (the pipeline's stage: `compass run evaluate`)",
    ),
    "memorised": ("compass.commands.memorised:memorised", "see whether a model knows a benchmark's problems by heart"),
    "table1": (
        "compass.commands.table1:table1",
        "show the technical report's Table 1 with intervals, beside your own scores",
    ),
    "forgetting": ("compass.commands.forgetting:forgetting", "write two small benchmarks of what training may cost"),
    "score": ("compass.commands.score:score", "score responses made elsewhere, from a file with any field names"),
    "verify": ("compass.commands.verify:verify", "compare two answers, or a file of pairs, and say how it was decided"),
    "label": (
        "compass.commands.label:label",
        "judge a sample of responses and measure how often the verifier is wrong",
    ),
    "doctor": (
        "compass.commands.doctor:doctor",
        "check this machine and this folder, and say how to fix what is wrong",
    ),
    "up": ("compass.commands.up:up", "start the local servers: Prefect, MLflow and the page of the running stage"),
    "down": ("compass.commands.up:down", "end the local servers"),
    "completion": (
        "compass.commands.completion:completion",
        "complete commands and options with the Tab key in bash, zsh or fish",
    ),
}
"""Subcommand to `module:function` (or `module:app`, a `cyclopts.App`) and one line of help."""

SECTIONS = {
    "Run and watch": ("init", "doctor", "run", "status", "watch", "up", "down", "runs", "profile", "plan", "study"),
    "Data": ("data", "curate", "why", "ledger"),
    "Training": ("rl", "rollouts", "chat"),
    "Scores": ("evaluate", "memorised", "benchmarks", "report", "score"),
    "The verifier": ("verify",),
}
"""How `compass --help` groups the commands; one that is in no section, since few need it, comes after them."""

MORE = "More"

USAGE_ERROR = 2
USAGE_ERRORS = {"verify": 3}
"""Exit status of wrong words where 2 says something else."""

EXIT_STATUS = """\
Exit status: 0 all is well; 1 an input cannot be used, and the message says what to do; 2 wrong command, option or name of a stage; \
3 a stage or a service failed; 130 interrupted. Where a command's own help says otherwise, that holds.

`compass run` runs the whole pipeline. The documentation is in docs/ (`make docs` builds it as a site)."""


def _shown_default(value: object) -> str | None:
    """A default as help names it; what is off, empty or not given needs no word."""
    return None if value is None or value is False or value in ([], (), "") else str(value)


_PARAMETERS = Parameter(negative=(), show_default=_shown_default)
"""Of every command: no `--no-json` beside `--json`."""


def build_app(only: str | None = None) -> App:
    """The command line.

    Args:
        only: the one subcommand to import; the others are listed by their lines and imported where they are looked into.
            Without it, every subcommand is imported: for documentation and shell completion.

    Returns:
        The app to call through its `meta`, which knows the options of every command.
    """
    app = App(
        name="compass",
        help="An open pipeline for math-reasoning RL: curate problems, train a model on them, and see what it learned.",
        help_format="plaintext",  # Markdown takes long to import, and the list of commands has none
        help_epilogue=EXIT_STATUS,
        version=_version,
        default_parameter=_PARAMETERS,
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    for name, (path, line) in COMMANDS.items():
        if only is None or name == only:
            app.command(_loaded(name, path, line), name=name)
        else:
            app.command(
                path,
                name=name,
                help=line,
                group=_group(next((title for title, names in SECTIONS.items() if name in names), MORE)),
            )

    @app.meta.default
    def launch(
        *tokens: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)],
        debug: Annotated[bool, Parameter(group=Group("Any command", sort_key=99))] = False,
    ) -> int | None:
        """Run one subcommand.

        Args:
            tokens: the subcommand and what it is given.
            debug: show the traceback of every error.
        """
        return app(tokens, exit_on_error=False, print_error=False)

    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand; returns its exit status, that of the error where the user's input cannot be used."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    chosen = next((word for word in arguments if not word.startswith("-")), "")
    debug = "--debug" in _options(arguments)
    try:
        status = build_app(chosen).meta(arguments, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        if debug:
            raise
        print(_usage_message(error, chosen), file=sys.stderr)
        return USAGE_ERRORS.get(chosen, USAGE_ERROR)
    except UserError as error:
        if debug:
            raise
        print(f"compass {chosen}: {error}", file=sys.stderr)
        return error.exit_status
    except ModuleNotFoundError as error:
        if debug:
            raise
        print(name_missing(error, arguments), file=sys.stderr)
        return 1
    if status is None:  # help was shown: as asked for, or because nothing was chosen
        return 0 if _options(arguments) & {"--help", "-h", "--version"} else USAGE_ERROR
    return status


@cache
def _group(title: str) -> Group:
    return Group(title, sort_key=[*SECTIONS, MORE].index(title))


def _options(arguments: Sequence[str]) -> set[str]:
    """What may be an option among the words: those before `--`."""
    words = list(arguments)
    return set(words[: words.index("--")] if "--" in words else words)


def _version() -> str:
    import compass

    return f"compass-thinker {compass.__version__}"


def _loaded(name: str, path: str, line: str) -> App:
    """A subcommand with its help."""
    from compass.command_help import HelpWithExamples

    module, _, member = path.partition(":")
    found = getattr(import_module(module), member)
    if isinstance(found, App):
        found.help = found.help or f"{line[0].upper()}{line[1:]}."
        app = found
    else:
        app = App(name=name)
        app.default(found)
    for one in _with_subcommands(app):
        one.help_format = "markdown"
        one.help_epilogue = ""
        one.default_parameter = _PARAMETERS  # what the reference is made from, one command at a time
        one.help_formatter = HelpWithExamples(one.default_command)
    return app


def _with_subcommands(app: App) -> Iterator[App]:
    yield app
    for name in app:
        if not name.startswith("-"):
            yield from _with_subcommands(app[name])


def _usage_message(error: CycloptsError, chosen: str) -> str:
    """One line that says what is wrong with the words, and where the right ones are listed."""
    if chosen and chosen not in COMMANDS:
        meant = did_you_mean(chosen, COMMANDS, "`compass {}`")
        return f"compass: there is no command {chosen!r}; {meant}`compass --help` lists them"
    command = " ".join(["compass", *(error.command_chain or ([chosen] if chosen else []))])
    if isinstance(error, UnusedCliTokensError):
        said = f"{(error.unused_tokens or [''])[0]!r} belongs to no option; a value follows the name of its option"
    elif isinstance(error, MissingArgumentError) and error.argument:
        said = f"{error.argument.name} is missing"
    else:
        said = " ".join(str(error).split()).rstrip(".")
    return f"{command}: {said} (`{command} --help` lists what it takes)"


def entry() -> None:
    """The console script: a clean end on Ctrl-C and on a closed pipe (`compass why ... | head`)."""
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)


if __name__ == "__main__":
    entry()
