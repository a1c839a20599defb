"""Deployments: what Prefect's page offers to run."""

import asyncio

from compass.settings import load_settings
from flows.deployments import TAG, build_deployments


def test_every_stage_is_offered_after_the_pipeline_with_the_machine_that_it_wants() -> None:
    made = {one.name: set(one.tags) for one in asyncio.run(build_deployments())}
    assert list(made) == ["0-pipeline", *load_settings().stages]
    assert made["0-pipeline"] == {TAG}
    assert made["dedup"] == {TAG, "data"}
    assert made["rl-1"] == {TAG, "model"}
