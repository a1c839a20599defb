"""Run one RL stage with verl: write its configuration, start it, watch it, and end every process it started.

Checkpoints, metrics and rewards live under the stage's work folder, so that a killed stage continues from its last
checkpoint. A stage is done when its last checkpoint is its last iteration; verl's exit code alone is no proof.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from compass.errors import UserError
from compass.machine import cores, describe_load, die_with_parent
from compass.progress import report, report_phase
from compass.rl.checkpoint import (
    best_step,
    find_unvalidated,
    last_step,
    remove_older,
    resume_from,
    start_from_optimizer,
    whole_checkpoints,
)
from compass.rl.config import verl_config
from compass.rl.failure import first_cause, log_lines, reason
from compass.rl.guards.findings import Findings, GuardError, forget_findings, read_findings
from compass.rl.metrics import (
    SAMPLED_ACCURACY,
    SAMPLED_LENGTH,
    SAMPLED_REWARD,
    all_metrics,
    follow_metrics,
    forget_after,
    read_metrics,
    recover_metrics,
)
from compass.rl.notice import read_stopped, wait_for_notice
from compass.rl.paths import StagePaths
from compass.rl.progress import read_progress
from compass.rl.rollouts import forget_rollouts_after
from compass.rl.trainer_watch import EssentialProcesses, Watchdog, end_trainer
from compass.settings import RlStage
from compass.settings.recipe import Resources
from compass.tracking import current_run

USUAL_CAUSE = "too little memory or too much load is the usual cause. Nothing that was saved is lost: run it again when less runs beside it"
"""Of the end of a process of Ray or vLLM that says nothing itself."""


class TrainingError(UserError):
    """An RL stage ended before its last iteration."""


class TakenAwayError(TrainingError):
    """An RL stage ended before its last iteration because its machine is taken away; the message says what is saved."""


def train(stage: str, settings: RlStage, paths: StagePaths, *, seed: int) -> list[dict[str, Any]]:
    """Train one stage to its last iteration, continuing from the last checkpoint if there is one.

    Args:
        stage: the stage's name.
        settings: its settings.
        paths: its starting weights, training set and work folder.
        seed: seed of data order and rollouts.

    Returns:
        verl's metrics, one dict per iteration with its `step`, in order.

    Raises:
        TrainingError: verl ended early; the message is the first cause in its log, or the log's end where it has none.
        TakenAwayError: this process got SIGTERM.
        GuardError: a guard of level `stop` fired (`compass.rl.guards`).
    """
    from omegaconf import OmegaConf

    paths.work.mkdir(parents=True, exist_ok=True)
    rows = all_metrics(paths.saved_metrics, paths.live_metrics, paths.metrics)
    recorded, unvalidated = _count_recorded(rows, settings, paths)
    if unvalidated:
        print(
            f"{stage}: iteration {unvalidated} was not validated before an earlier run ended: it is trained again",
            flush=True,
        )
    whole = whole_checkpoints(paths.checkpoints)
    if whole and max(whole) > settings.steps:
        raise TrainingError(
            f"{stage}: its last checkpoint is of iteration {max(whole)}, and `steps` is {settings.steps}; raise `steps` to {max(whole)} or more, "
            f"or delete {paths.work} to train it anew"
        )
    best = best_step(row for step, row in rows.items() if step <= recorded)
    done = resume_from(paths.checkpoints, recorded=recorded, keep=best)
    recover_metrics(paths.saved_metrics, paths.live_metrics, paths.metrics, done)
    forget_after(paths.rewards, done)
    forget_findings(paths.findings, done, last=settings.steps)
    forget_rollouts_after(paths.rollouts, done)
    paths.progress.unlink(missing_ok=True)
    paths.lost.unlink(missing_ok=True)
    paths.notice.unlink(missing_ok=True)
    if settings.checkpoint.carry_optimizer:
        ours = settings.advantage.critic
        critic = settings.optimizer.with_rate(ours.learning_rate, ours.warmup_steps)
        start_from_optimizer(
            paths.model,
            paths.checkpoints,
            settings.optimizer,
            critic if settings.advantage.estimator == "gae" else None,
            steps=settings.steps,
        )
    # The run of a killed process keeps what it recorded; this one's has every iteration of the result once.
    current_run().curves(read_metrics(paths.metrics))
    log = paths.log
    earlier = len(log_lines(log))
    cause, taken_away = "", False
    if done < settings.steps:
        config = paths.verl
        OmegaConf.save(verl_config(stage, settings, paths, seed=seed), config)
        current_run().artifact(config)
        with wait_for_notice() as noticed:
            cause = _run(stage, settings, paths, config, done, noticed)
            taken_away = noticed()
    for finding in read_findings(paths.findings):
        if finding["level"] == "stop":
            raise GuardError(finding["message"])
    rows = read_metrics(paths.metrics)
    reached = min(last_step(paths.checkpoints), len(rows))
    if reached == settings.steps:
        return rows
    if taken_away:
        # The trainer wrote its last iteration's metrics just before it ended; the next start takes them over.
        found = all_metrics(paths.saved_metrics, paths.live_metrics, paths.metrics)
        recorded, _ = _count_recorded(found, settings, paths)
        raise TakenAwayError(
            f"{stage}: ended by SIGTERM; iteration {min(last_step(paths.checkpoints), recorded)} of {settings.steps} is saved. "
            "Run the stage again: it goes on from there"
        )
    new = "" if reached > done else ", without a new one in this run"
    stopped = f"stopped at iteration {reached} of {settings.steps}{new}"
    first = first_cause(log_lines(log), earlier)
    if first is not None and first.text.startswith("compass."):  # an error of our own says itself what to do
        raise TrainingError(f"{stage}: {first.text.partition(': ')[2]}\n{stopped}; line {first.line} of {log}")
    raise TrainingError(f"{stage}: {stopped}{cause}; the log is {log}\n" + reason(log_lines(log), earlier))


def _run(stage: str, settings: RlStage, paths: StagePaths, config: Path, done: int, noticed: Callable[[], bool]) -> str:
    """Start the trainer, follow its metrics until it ends, and end whatever it left behind; what ended it, if it cannot say.

    Where `noticed()` turns true the trainer is asked to save a checkpoint, and ends when that is whole.
    """
    with paths.log.open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "compass.rl.train", str(config)],
            env=trainer_environment(
                os.environ,
                settings.resources,
                live_metrics=paths.live_metrics,
            ),
            stdout=log,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            preexec_fn=partial(die_with_parent, os.getpid()),  # Ray's and vLLM's processes follow the trainer
        )
        watchdog = Watchdog(settings.guards.watchdog.model_dump(), paths.progress, process.pid)
        findings = Findings(paths.findings, settings.guards.model_dump())
        essential, lost = EssentialProcesses(process.pid), ""
        position, reported, summary, asked = 0, len(read_findings(paths.findings)), "", False
        told = set[str]()  # the guards whose message stands on the terminal
        try:
            while True:
                running = process.poll() is None
                fresh, position = follow_metrics(paths.live_metrics, position, paths.metrics)
                # verl's own MLflow logger gives up for good where the server is away, and records a thousand parameters
                current_run().curves(fresh)
                for row in fresh:
                    watchdog.note_iteration(row)
                    done, summary = row["step"], summarise_iteration(row)
                if phase := _phase(paths.progress):
                    report(done, settings.steps, "iterations", phase, detail=summary)
                else:  # not counted yet, so that the start-up does not pass for an iteration's time
                    report_phase("starting the trainer")
                if fresh:
                    best = best_step(read_metrics(paths.metrics))
                    remove_older(paths.checkpoints, recorded=fresh[-1]["step"], keep=best)
                if running and (seen := watchdog.find_standstill()):
                    findings.fire("watchdog", done + 1, seen)
                for finding in read_findings(paths.findings)[reported:]:
                    reported += 1
                    again = f"iteration {finding['step']}: guard `rl.guards.{finding['guard']}` again"
                    print(
                        f"{stage}: {finding['level']}: {again if finding['guard'] in told else finding['message']}",
                        file=sys.stderr,
                    )
                    told.add(finding["guard"])
                if not running:
                    if paths.lost.exists():
                        return f": {paths.lost.read_text(encoding='utf-8')}"
                    return f": {lost}" if lost else _killed(process.returncode)
                if noticed() and not asked:
                    asked = True
                    print(f"{stage}: {_give_notice(paths, done)}", file=sys.stderr, flush=True)
                elif asked and not (paths.notice.exists() and paths.progress.exists()):
                    process.kill()  # it has saved, or begun nothing, and a machine that is taken away has no time for a tidy end
                if not lost and (ended := essential.find_lost()):
                    lost = f"{ended} ended, and the trainer with it; {describe_load()}: {USUAL_CAUSE}{essential.last_lines}"
                if lost:
                    process.kill()  # it would wait forever
                time.sleep(0.5)
        finally:
            end_trainer(process, essential.started.values())


def _give_notice(paths: StagePaths, done: int) -> str:
    """Ask the trainer to save a checkpoint and end; returns what the user should know until then."""
    paths.notice.touch()
    last = last_step(paths.checkpoints)
    again = f"iterations {last + 1} to {done}" if done > last + 1 else f"iteration {done}"
    lost = f"; if the machine ends before it is whole, {again} will be trained again" if done > last else ""
    return f"SIGTERM: iteration {max(done, last)} is saved before the stage ends{lost}. A second SIGTERM ends the stage at once"


def _phase(progress: Path) -> str:
    """The trainer's iteration and phase in words; empty before it reports any."""
    at = read_progress(progress)
    if at is None:
        return ""
    return f"iteration {at['step']}: {at['phase']}" + (f" ({at['detail']})" if at["detail"] else "")


def _killed(status: int) -> str:
    """What a trainer that a signal ended cannot say itself."""
    if status >= 0:
        return ""
    memory = f" (the kernel does so when memory runs out); {describe_load()}" if status == -signal.SIGKILL else ""
    return f": {signal.Signals(-status).name} ended the trainer{memory}"


def _count_recorded(
    rows: Mapping[int, Mapping[str, Any]], settings: RlStage, paths: StagePaths
) -> tuple[int, int | None]:
    """The last iteration up to which every one is recorded and can be gone on from, and the one that was not validated, if any.

    verl validates after the checkpoint: without its accuracy an iteration could not be chosen.
    """
    step = 0
    while step < settings.steps and step + 1 in rows:
        step += 1
    unvalidated = None
    if settings.checkpoint.validation_problems:
        unvalidated = find_unvalidated(rows, paths.checkpoints, read_stopped(paths.stopped))
    return min(step, unvalidated - 1) if unvalidated else step, unvalidated


def trainer_environment(given: Mapping[str, str], resources: Resources, *, live_metrics: Path) -> dict[str, str]:
    """The environment variables of the trainer: `given`, and what verl, Ray and the device ask for.

    Args:
        given: the variables of the stage's own process.
        resources: the hardware; where the trainer joins a running Ray cluster, `given` says how (`RAY_ADDRESS`, `RAY_AUTH_TOKEN`).
        live_metrics: the file that verl writes its metrics to.
    """
    if resources.gpus == 0:
        from compass.rl.cpu.environment import environment as cpu_environment

        given = cpu_environment(given, resources.ranks, resources.kv_cache_gib)
    elif resources.offload == "always":  # AdamW then runs on the node's cores, of which Ray gives each rank one
        threads = {"OMP_NUM_THREADS": str(max(1, cores() // resources.gpus)), "OMP_WAIT_POLICY": "PASSIVE"}
        given = {**threads, **given}
    if not resources.joins:
        given = {name: value for name, value in given.items() if name != "RAY_ADDRESS"} | {
            # A token of this run's own: Ray would write one into the home folder, after processes were forked without it.
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
        }
    return {
        **given,
        "VERL_FILE_LOGGER_PATH": str(live_metrics.resolve()),
        "RAY_DEDUP_LOGS": "0",
        "TQDM_DISABLE": "1",
    }


def summarise_iteration(metrics: Mapping[str, Any]) -> str:
    """What is shown of an iteration while the next one runs: of all responses sampled, the share right, mean reward and mean tokens."""
    right, reward, length = (
        float("nan") if metrics.get(name) is None else metrics[name]  # verl writes null for what is not a number
        for name in (SAMPLED_ACCURACY, SAMPLED_REWARD, SAMPLED_LENGTH)
    )
    return f"{100 * right:.0f}% right, reward {reward:+.2f}, {length:.0f} tokens"
