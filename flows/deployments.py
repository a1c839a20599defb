"""Serve the pipeline and every stage to Prefect's pages: `python -m flows.deployments`, from the repository's root.

`compass up` starts it beside the servers. It registers one deployment per flow, whose form shows the settings in force, looks
for runs that someone has asked for, and starts each in a process of its own.
"""

import asyncio
import contextlib
import signal
import sys
from pathlib import Path

from flows import prefect_settings

prefect_settings.apply()  # before Prefect reads its settings

import httpx  # noqa: E402
import psutil  # noqa: E402
from prefect.client.orchestration import get_client  # noqa: E402
from prefect.client.schemas.filters import (  # noqa: E402
    DeploymentFilter,
    DeploymentFilterTags,
    FlowRunFilter,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import StateType  # noqa: E402
from prefect.deployments.runner import EntrypointType, RunnerDeployment  # noqa: E402
from prefect.runner import Runner  # noqa: E402
from prefect.settings import PREFECT_API_URL  # noqa: E402
from prefect.states import Cancelled, Crashed  # noqa: E402

from compass.processes import wait_until_ended  # noqa: E402
from compass.settings import SettingsError, load_settings  # noqa: E402
from flows.overrides import list_profiles  # noqa: E402

AT_ONCE = 20
"""Runs that may wait in line at once; those above it are `Late` until there is room."""

TAG = "compass"
"""Tag of every deployment that this process serves."""

END_S = 20.0
"""Seconds that runs have to end when this process is ended."""

LOOK_S = 2.0
"""Seconds between two looks at the files that the forms show."""


async def build_deployments() -> list[RunnerDeployment]:
    """The deployments of the settings in force: the pipeline's first, then one per stage.

    Raises:
        SettingsError: `params.yaml` cannot be used.
    """
    from flows import stage as stages

    settings = load_settings()
    made = [
        await stages.pipeline_flow().ato_deployment(
            "0-pipeline",  # the first in a list by name, of which the page shows ten
            description=stages.PIPELINE,
            tags=[TAG],
            entrypoint_type=EntrypointType.MODULE_PATH,
        )
    ]
    for stage in settings.stages:
        flow = stages.stage_flow(stage)
        made.append(
            await flow.ato_deployment(
                stage,
                description=stages.describe(stage, settings),
                # this machine may have no GPU
                tags=[TAG, "data" if stages.choose_machine(stage, settings) == "data" else "model"],
                entrypoint_type=EntrypointType.MODULE_PATH,
            )
        )
    return made


async def serve() -> None:
    """Register the deployments, and start the runs that are asked for until this process is ended."""
    # A schedule is the user's: it goes on when the servers are up again.
    runner = Runner(name="compass", pause_on_shutdown=False, limit=AT_ONCE)
    # Prefect's own handlers kill the runs at once, or leave before they have ended.
    loop, serving = asyncio.get_running_loop(), asyncio.current_task()
    assert serving is not None
    stopping: list[asyncio.Task[None]] = []

    def stop(*_: object) -> None:
        if not stopping:
            loop.call_soon_threadsafe(lambda: stopping.append(loop.create_task(end_runs(serving))))

    runner.handle_sigterm = stop  # type: ignore[method-assign]
    signal.signal(signal.SIGINT, stop)
    await register(runner)
    await end_abandoned_runs()
    print(f"serving the pipeline and its stages to {PREFECT_API_URL.value()}", flush=True)
    watching = asyncio.create_task(keep_forms(runner))
    try:
        await runner.start()
    finally:
        watching.cancel()


async def register(runner: Runner) -> None:
    """Register every deployment anew, and take away those of stages that are gone."""
    made = await build_deployments()
    for deployment in made:
        # Fields that are given, if only as empty, replace what the server has: the schedules that users made.
        deployment.__pydantic_fields_set__ -= {"schedules", "paused"}
        await runner.aadd_deployment(deployment)
    names = {deployment.full_name for deployment in made}
    async with get_client() as client:
        tagged = DeploymentFilter(tags=DeploymentFilterTags(all_=[TAG]))
        for old in await client.read_deployments(deployment_filter=tagged):
            flow = await client.read_flow(old.flow_id)
            if f"{flow.name}/{old.name}" not in names:
                await client.delete_deployment(old.id)


async def keep_forms(runner: Runner) -> None:
    """Show other settings in the forms as soon as `params.yaml` or a profile has them."""
    from flows import stage

    seen = _compute_fingerprint()
    while True:
        await asyncio.sleep(LOOK_S)
        if (now := _compute_fingerprint()) == seen:
            continue
        seen = now
        try:
            load_settings()
            stage.stage_flow.cache_clear()
            stage.pipeline_flow.cache_clear()
            await register(runner)
        except SettingsError as error:
            print(f"the forms stay as they were: {error}", file=sys.stderr, flush=True)
        except httpx.HTTPError as error:
            seen = ()
            print(f"the forms are made anew when the server answers: {error}", file=sys.stderr, flush=True)


async def end_abandoned_runs() -> None:
    """Mark the runs as crashed that an earlier serving process left without telling the server, as a kill does.

    A run ends with the process that serves it, so that none of them runs any more.
    """
    async with get_client() as client:
        open_runs = await client.read_flow_runs(
            deployment_filter=DeploymentFilter(tags=DeploymentFilterTags(all_=[TAG])),
            flow_run_filter=FlowRunFilter(
                state=FlowRunFilterState(
                    type=FlowRunFilterStateType(any_=[StateType.RUNNING, StateType.PENDING, StateType.CANCELLING])
                )
            ),
        )
        for run in open_runs:
            cancelling = run.state is not None and run.state.is_cancelling()
            ended = "the process that served it was ended, and it with that process"
            state = Cancelled(message=ended) if cancelling else Crashed(message=ended)
            await client.set_flow_run_state(run.id, state, force=True)


async def end_runs(serving: asyncio.Task[None]) -> None:
    """Ask the runs that are going on to end, wait until they have, then end `serving`."""
    runs = psutil.Process().children()
    for run in runs:
        with contextlib.suppress(psutil.NoSuchProcess):
            run.terminate()
    await asyncio.to_thread(wait_until_ended, runs, END_S)
    serving.cancel()


def _compute_fingerprint() -> tuple[object, ...]:
    files = [Path("params.yaml"), *list_profiles()]
    return tuple((str(path), path.stat().st_mtime_ns) for path in files if path.exists())


def main() -> int:
    """Serve until SIGTERM or Ctrl-C; the runs that are going on then end with all their processes."""
    if not PREFECT_API_URL.value():
        print("no Prefect server runs here; `compass up` starts one and this beside it", file=sys.stderr)
        return 1
    try:
        asyncio.run(serve())
    except SettingsError as error:
        print(error, file=sys.stderr)
        return 1
    except asyncio.CancelledError:
        print("every run that was going on has ended", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
