"""The one way to run the pipeline: check, wait for its turn, write the values into `params.yaml`, run DVC, keep the result.

    run(RunRequest("evaluate", overrides={"evaluate.samples": 16}), Path("."), log=print)

`compass run`, `make pipeline` and the flows of Prefect call it, so that runs started in different places never meet: they wait
for each other (`compass.locks`) and end one after another.

Values go through `params.yaml` and the stages run through `dvc repro`; the result is then saved by `dvc exp save`. DVC's
`exp run` does the same in one step, but works on a detached HEAD meanwhile: a run that is killed would leave the
repository there.

What a run did is read from the files that its stages write (`compass.runs.progress`) and from `dvc.lock`, not from DVC's output.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from compass.checks.before_run import check_before_run
from compass.environment import dvc_variables
from compass.errors import UserError, WrongName, did_you_mean
from compass.files import write_json
from compass.machine import describe_load
from compass.processes import new_pipeline_key
from compass.runs.dvc_files import Graph
from compass.runs.progress import StageProgress, read_run
from compass.runs.repository import ask_git
from compass.runs.run_name import LAST_RUN, LAST_STAGE, list_changed, run_name, slug
from compass.settings import load_settings
from compass.settings.load import check_values, parse_values, read_text
from flows.dvc_process import DvcError, dvc_command, run_command, take_run_turn
from flows.overrides import Change, change_text, check_edits, find_parameters, format_parameters, write_overrides
from stages._deps import FITTED, fit_graph
from stages._rl_entries import rl_names

Scope = Literal["upto", "only", "downstream"]

LONGEST_NAME = 36
"""Characters of a planned name, without the number that makes it free; a profile's own name is never cut."""

_REF = re.compile(r"refs/exps/[0-9a-f]{2}/[0-9a-f]{38}/(.+)")


@dataclass(frozen=True)
class RunRequest:
    """What to run, and with which values."""

    target: str | None = None
    """A stage of dvc.yaml; None for all."""

    scope: Scope = "upto"
    """`upto`: the target and what it needs; `only`: the target alone; `downstream`: the target and what builds on it."""

    force: bool = False
    """Run the stages even where nothing changed."""

    overrides: Mapping[str, Any] = field(default_factory=dict)
    """Dotted names of settings to values; they stay in `params.yaml`, as with `dvc exp run -S`."""

    name: str | None = None
    """The experiment that keeps the result; None names it after what differs from the profile."""

    profile: str | None = None
    """Start from this file of `profiles/` in place of `params.yaml`, whose values it takes the place of."""

    keep_edits: bool = True
    """Refuse to replace a `params.yaml` that holds edits which no profile has."""

    extra: tuple[str, ...] = ()
    """Further words for `dvc repro`: its own options, several targets. Without `target` and with `only` they are the stages to run."""

    def words(self) -> list[str]:
        """The words after `dvc repro` that run the stages."""
        scope = {"upto": [], "only": ["--single-item"], "downstream": ["--downstream"]}[self.scope]
        return [*scope, *(["--force"] if self.force else []), *([self.target] if self.target else []), *self.extra]

    def command(self) -> str:
        """The command that does what this request does."""
        sets = [word for value in format_parameters(self.overrides) for word in ("-S", value)]
        kept = ["-n", self.name] if self.name else []
        command = shlex.join(["dvc", *(["exp", "run"] if sets or kept else ["repro"]), *kept, *sets, *self.words()])
        return f"compass profile use {self.profile} && {command}" if self.profile else command


@dataclass(frozen=True)
class RunResult:
    """What a run that ended well did."""

    command: str
    """The `dvc` command that does the same."""

    ran: tuple[str, ...]
    """The stages that ran, in their order."""

    restored: tuple[str, ...]
    """The stages whose results came from DVC's cache of earlier runs."""

    unchanged: tuple[str, ...]
    """The stages that had nothing to do."""

    changes: tuple[Change, ...]
    """The settings that were changed for it."""

    experiment: str | None
    """The DVC experiment that holds the result; None where nothing ran and no name was given, or the folder is no git repository."""

    seconds: float
    """From the moment that it was its turn."""

    def __str__(self) -> str:
        """`ran denoise, report; 10 unchanged`."""
        if not self.ran and not self.restored:
            return "nothing to do: all is up to date"
        ran = [f"ran {', '.join(self.ran)}"] if self.ran else []
        restored = [f"took {', '.join(self.restored)} from the cache of earlier runs"] if self.restored else []
        unchanged = [f"{len(self.unchanged)} unchanged"] if self.unchanged else []
        return "; ".join([*ran, *restored, *unchanged])


def run(
    request: RunRequest,
    root: str | Path = ".",
    *,
    log: Callable[[str], object] | None = print,
    on_wait: Callable[[str], object] | None = None,
    on_start: Callable[[], object] | None = None,
    env: Mapping[str, str] | None = None,
) -> RunResult:
    """Run stages through DVC; returns when they have ended.

    An exception that reaches the call, such as KeyboardInterrupt, ends every process of the run first.

    Args:
        request: what to run.
        root: the repository's root.
        log: gets the settings that are changed, and the lines that DVC and the stages write; None where all is written to this
            process's own output.
        on_wait: gets a line that names the run which is waited for; standard error by default.
        on_start: called when it is this run's turn.
        env: variables for the stages: COMPASS_PIPELINE_RUN (unique per run; made here by default), COMPASS_STARTED_BY
            (`terminal` by default), COMPASS_PREFECT_URL.

    Raises:
        UserError: the request, a setting, a file or a variable cannot be used. Nothing has been changed or started.
        DvcError: a stage failed; the message names it and has its error.
    """
    root = Path(root).resolve()
    check_request(request, root)
    command = request.command()
    with take_run_turn(root, command, on_wait=on_wait) as held:
        began = time.monotonic()
        if on_start:
            on_start()
        _check_edits(request, root)  # another run, or the user, may have changed the file while this one waited
        wanted = request.overrides or request.profile is not None
        changes = write_overrides(root, request.overrides, request.profile) if wanted else []
        for change in changes:
            (log or print)(f"params.yaml: {change}")
        if fit_graph(root):
            (log or print)(FITTED)
        name = request.name or plan_name(root)
        variables = {
            "COMPASS_PIPELINE_RUN": new_pipeline_key(),
            "COMPASS_STARTED_BY": "terminal",
            **({"DVC_EXP_NAME": name} if name else {}),
            **(env or {}),
            **held,
        }
        graph = Graph(root)
        before, last = graph.lock, "" if request.extra and request.scope != "only" else _wanted(graph, request)[-1]
        if last:
            variables[LAST_STAGE] = last
        with _recorded(root, command, variables["COMPASS_PIPELINE_RUN"], last) as facts:
            facts["settings"] = load_settings(root / "params.yaml").model_dump(mode="json")
            # Quiet: of its own DVC would write four lines and a bar per stage, and hints at commands that this one calls itself.
            run_command(dvc_command("repro", "--quiet", *request.words()), folder=root, log=log, env=variables)
            ran = [one.stage for one in read_run(root, variables["COMPASS_PIPELINE_RUN"])]
            # What is asked for by a name is kept though none of it had to run.
            keep = ran or (_wanted(Graph(root), request) if request.name else [])
            saved = save_experiment(root, name, keep, env=variables) if name else None
            if name and keep and not saved:
                (log or print)(
                    f"the result is in this folder, but not kept as an experiment; `dvc exp save -n {name}` says why"
                )
            facts["experiment"] = saved
    graph = Graph(root)
    rest = [stage for stage in _wanted(graph, request) if stage not in ran]
    restored = [stage for stage in rest if graph.lock.get(stage) != before.get(stage)]
    return RunResult(
        command=command,
        ran=tuple(ran),
        restored=tuple(restored),
        unchanged=tuple(stage for stage in rest if stage not in restored),
        changes=tuple(changes),
        experiment=saved,
        seconds=time.monotonic() - began,
    )


def check_request(request: RunRequest, root: Path) -> None:
    """Refuse a request that cannot end well, before anything is changed or started.

    Raises:
        UserError: the target is no stage; the name cannot be an experiment's; a setting, a file or a variable cannot be used.
    """
    listed = Graph(root).stages
    if not listed:
        raise UserError(f"{root / 'dvc.yaml'}: no stages found; run this from the repository's root")
    text = read_text(find_parameters(root, request.profile))
    before, named = rl_names(listed), _list_rl_stages(text, request)
    # This pipeline's dvc.yaml will have the RL stages of the parameters.
    stages = [stage for stage in listed if stage not in before] + named if before and named else list(listed)
    if request.target is not None and request.target not in stages:
        hint = did_you_mean(request.target, stages).rstrip() or f"there are {', '.join(stages)}"
        raise WrongName(f"there is no stage {request.target!r}; {hint}")
    if request.target is None and request.scope != "upto" and not request.extra:
        raise UserError(f"give the stage to run {'alone' if request.scope == 'only' else 'from'}")
    _check_name(request.name, root)
    _check_edits(request, root)
    check_before_run(root, change_text(text, request.overrides)[0] if request.overrides else text)


def _list_rl_stages(text: str, request: RunRequest) -> list[str]:
    """The RL stages that a parameter file and a request name; none where they cannot be read."""
    try:
        return list(check_values(parse_values(change_text(text, request.overrides)[0])).rl.stages)
    except UserError:  # the check of all settings says what is wrong
        return []


def _check_name(name: str | None, root: Path) -> None:
    """Refuse a name under which the result could not be kept: DVC would say so after the run."""
    if name is None or ask_git(root, "rev-parse", "--git-dir") is None:
        return
    if "/" in name or ask_git(root, "check-ref-format", f"refs/exps/{name}") is None:
        raise UserError(f"-n {name!r}: git takes no such name for an experiment; for example {slug(name)}")
    if name in list_experiments(root):
        raise UserError(
            f"-n {name}: there is an experiment of this name; give another, such as {find_free_name(root, name)}, or remove that one: "
            f"`dvc exp remove {name}`"
        )


def _check_edits(request: RunRequest, root: Path) -> None:
    if request.profile is not None and request.keep_edits:
        check_edits(request.profile, root)


def list_experiments(root: Path) -> list[str]:
    """Names of the DVC experiments of a repository, the newest first; empty without git."""
    listed = ask_git(root, "for-each-ref", "--sort=-creatordate", "--format=%(refname)", "refs/exps")
    return [match[1] for line in (listed or "").splitlines() if (match := _REF.fullmatch(line))]


def plan_name(root: Path) -> str | None:
    """The name of the experiment for the parameters in force, which no other has; None where there is no commit yet.

    MLflow's name for the run as a git ref: `tiny-samples=16`; `dvc exp show` cuts no name.
    """
    if not ask_git(root, "rev-parse", "--verify", "-q", "HEAD"):
        return None
    settings = load_settings(root / "params.yaml")
    name = run_name(settings, root / "profiles", list_changed(root, settings), longest=LONGEST_NAME)
    return find_free_name(root, slug(name))


def find_free_name(root: Path, name: str) -> str:
    """A name that no experiment has: this one, or with the first number that makes it so."""
    taken, number = list_experiments(root), 1
    while (wanted := name if number == 1 else f"{name}-{number}") in taken:
        number += 1
    return wanted


def save_experiment(
    root: Path, name: str, stages: Sequence[str], *, env: Mapping[str, str] | None = None
) -> str | None:
    """Save the results in the workspace as an experiment.

    Stages are handed to DVC by name: without names it would enter the outputs of every stage into `dvc.lock`,
    also of those that are stale, and so call them up to date.

    Args:
        root: the repository's root.
        name: the experiment's.
        stages: those that are up to date by this run; nothing is saved where there are none.
        env: variables besides those of this process.

    Returns:
        The name; None where there is no stage or DVC could not save it, which costs no result.
    """
    if not stages:
        return None
    variables = {**dvc_variables(root), **os.environ, **_author(root), **(env or {})}
    return name if _run_to_end(dvc_command("exp", "save", "--name", name, *stages), root, variables) else None


@contextlib.contextmanager
def _recorded(root: Path, command: str, key: str, last: str) -> Iterator[dict[str, Any]]:
    """Write what the block did, for `compass status`, however it ends; name the stage in DVC's error.

    The stage `last` ends the run's page in MLflow; where another one was the last, this does.
    """
    began, clock, state = time.time(), time.monotonic(), "finished"
    facts: dict[str, Any] = {}
    try:
        yield facts
    except BaseException as error:
        state = "failed" if isinstance(error, DvcError) else "stopped"
        if (stage := find_unfinished(root, key)) is not None:
            facts["stage"] = stage.stage
            if isinstance(error, DvcError):
                _, *lines = str(error).splitlines()
                killed = f"killed, as the kernel does when memory runs out; now {describe_load()}"
                cause = stage.error or (killed if stage.state == "killed" else stage.state)
                message = "\n".join([f"stage {stage.stage} failed: {cause}", *lines])
                raise DvcError(message, stage.stage) from None
        raise
    finally:
        seen = read_run(root, key)
        ran = [one.stage for one in seen if one.state == "finished"]
        seconds = round(time.monotonic() - clock, 1)
        done = {"command": command, "run": key, "state": state, "began": began, "seconds": seconds, "ran": ran}
        write_json(root / LAST_RUN, {**done, **facts})
        followed = os.environ.get("COMPASS_TRACKING") != "off"
        if followed and last and ran and len(ran) == len(seen) and last not in ran:
            from compass.tracking.mlflow_client import failures
            from compass.tracking.mlflow_send import end_pipelines

            with contextlib.suppress(*failures()):  # then the next run or `compass runs sync` ends it
                end_pipelines(root)


def request_rest(request: RunRequest, root: Path, key: str) -> RunRequest:
    """What is left of a request after a try that ended early: a forced one forces the stages that the try did not finish."""
    if not request.force or (request.extra and request.target):
        return replace(request, force=False, profile=None)
    ran = [one.stage for one in read_run(root, key) if one.state == "finished"]
    rest = [stage for stage in _wanted(Graph(root), request) if stage not in ran]
    return replace(request, target=None, scope="only", extra=tuple(rest), profile=None)


def find_unfinished(root: Path, key: str) -> StageProgress | None:
    """The stage of a run that failed, was killed or runs; None where there is none."""
    return next((one for one in reversed(read_run(root, key)) if one.state != "finished"), None)


def _wanted(graph: Graph, request: RunRequest) -> list[str]:
    """The stages that a request asks for, in their order."""
    if request.target is None:
        return [one for one in graph.stages if request.scope != "only" or one in request.extra]
    if request.scope == "downstream":
        return [one for one in graph.stages if one == request.target or request.target in graph.ancestors(one)]
    return [*(graph.ancestors(request.target) if request.scope == "upto" else []), request.target]


def _author(root: Path) -> dict[str, str]:
    """Who the experiment's commit is by, where git does not know its user: it takes no commit without."""
    if os.environ.get("GIT_AUTHOR_EMAIL") or ask_git(root, "config", "user.email"):
        return {}
    names = {f"GIT_{role}_NAME": "compass" for role in ("AUTHOR", "COMMITTER")}
    return {**names, **{f"GIT_{role}_EMAIL": "compass@localhost" for role in ("AUTHOR", "COMMITTER")}}


def _run_to_end(command: list[str], root: Path, env: Mapping[str, str]) -> bool:
    """Run a command to its end: an interruption must not stop it between its commit and the return to the branch."""
    null = subprocess.DEVNULL
    process = subprocess.Popen(command, cwd=root, env=env, stdin=null, stdout=null, stderr=null, start_new_session=True)
    interrupted: BaseException | None = None
    while process.returncode is None:
        try:
            process.wait()
        except BaseException as error:
            interrupted = error
    if interrupted:
        raise interrupted
    return process.returncode == 0
