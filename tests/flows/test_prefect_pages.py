"""Prefect's pages in a real browser: start a stage with a changed setting, cancel an RL stage, go on, follow the link to MLflow.

Fifteen minutes from nothing; `COMPASS_DEBUG_RUN` names a repository in which the debug profile is finished, to start from a copy.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import psutil
import pytest
import yaml

from compass.rl.trainer_watch import ENGINE
from tests.conftest import copy_of_the_repository
from tests.services.conftest import ENDED, free_ports, wait_for

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.pages

PAGE_S = 120
"""Seconds for a page to show what it is looked at for: Prefect's takes 30 where other work keeps the cores busy."""

RUN_S = 900
"""Seconds for a run."""

CANCEL_S = 20.0
"""Seconds from the click on Confirm until no process of the run is left, as docs/guides/prefect.md promises."""


def repository(folder: Path) -> Path:
    """A copy of this repository with the debug profile in force, or of a finished run of it."""
    if done := os.environ.get("COMPASS_DEBUG_RUN"):
        shutil.copytree(done, folder, symlinks=True)
        return folder
    copy_of_the_repository(folder)
    for words in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *words], cwd=folder, check=True)
    shutil.copy(folder / "profiles" / "debug.yaml", folder / "params.yaml")
    return folder


class Pages:
    """The servers of one repository, and a browser page that looks at them."""

    def __init__(self, root: Path, page: "Page", prefect: str) -> None:
        self.root, self.page, self.prefect = root, page, prefect
        self.servers = {process.pid for process in self._processes()}

    def ask(self, path: str, **body: Any) -> Any:
        return httpx.post(f"{self.prefect}/api/{path}", json=body, timeout=60).json()

    def state(self, run: str) -> dict[str, Any]:
        return httpx.get(f"{self.prefect}/api/flow_runs/{run}", timeout=60).json()["state"]

    def wait_for_state(self, run: str, *types: str, seconds: float = RUN_S) -> dict[str, Any]:
        return wait_for(lambda: (state := self.state(run))["type"] in types and state, seconds)

    def open_form(self, deployment: str) -> None:
        """From the list of deployments to the form of one."""
        self.page.goto(f"{self.prefect}/deployments", wait_until="commit")
        self.page.get_by_placeholder("Search deployments").fill(deployment)
        self.page.get_by_role("link", name=deployment, exact=True).first.click()
        self.page.get_by_role("button", name="Run", exact=True).first.click()
        self.page.get_by_text("Custom run").click()
        self.page.get_by_role("button", name="Submit").wait_for()

    def fill(self, setting: str, value: str) -> None:
        field = f"xpath=//*[starts-with(normalize-space(text()), '{setting} ')]/following::input[1]"
        self.page.locator(field).first.fill(value)

    def submit(self) -> str:
        """Start the run that the form describes; its id."""
        before = {run["id"] for run in self.ask("flow_runs/filter", limit=200)}
        self.page.get_by_role("button", name="Submit").click()
        new = lambda: [run["id"] for run in self.ask("flow_runs/filter", limit=200) if run["id"] not in before]  # noqa: E731
        return wait_for(new, PAGE_S)[0]

    def start(self, deployment: str, **parameters: Any) -> str:
        """Start a run without the form, as `prefect deployment run` does; its id."""
        found = httpx.get(f"{self.prefect}/api/deployments/name/{deployment}/{deployment}", timeout=60).json()
        asked = {"parameters": parameters, "state": {"type": "SCHEDULED"}}
        return self.ask(f"deployments/{found['id']}/create_flow_run", **asked)["id"]

    def look(self, path: str, shows: str, tab: str = "") -> None:
        """Open a page, and the tab of that name, and wait until it shows a text."""
        browser = self.page.context.browser
        assert browser is not None
        page = browser.new_page(viewport={"width": 1280, "height": 1400})
        page.set_default_timeout(1000 * PAGE_S)
        page.goto(path if path.startswith("http") else f"{self.prefect}{path}", wait_until="commit")
        if tab:
            page.get_by_text(tab, exact=True).first.click()
        page.get_by_text(shows).first.wait_for()
        page.context.close()

    def newest_artifacts(self, run: str) -> dict[str, Any]:
        """By key; each stage that ends adds a newer table of drops."""
        found = self.ask("artifacts/filter", artifacts={"flow_run_id": {"any_": [run]}})
        return {artifact["key"]: artifact for artifact in sorted(found, key=lambda one: one["created"])}

    def artifacts(self, run: str) -> dict[str, Any]:
        return {key: artifact["data"] for key, artifact in self.newest_artifacts(run).items()}

    def artifact_page(self, run: str, key: str) -> str:
        return f"{self.prefect}/artifacts/artifact/{self.newest_artifacts(run)[key]['id']}"

    def tasks(self, run: str) -> dict[str, str]:
        wanted = {"flow_runs": {"id": {"any_": [run]}}}
        return {task["name"]: task["state_name"] for task in self.ask("task_runs/filter", **wanted)}

    def logs(self, run: str) -> list[str]:
        entries = self.ask("logs/filter", logs={"flow_run_id": {"any_": [run]}}, limit=200)
        return [entry["message"] for entry in entries]

    def at_work(self) -> dict[int, str]:
        """Process id to command line of what runs in this repository beside its servers."""
        found = {}
        for process in self._processes():
            if process.pid not in self.servers:
                try:
                    found[process.pid] = " ".join(process.cmdline())
                except psutil.Error:
                    continue
        return found

    def _processes(self) -> Iterator[psutil.Process]:
        """Every process whose folder, command line or environment names this repository, this one excepted."""
        for process in psutil.process_iter():
            try:
                if process.pid == os.getpid() or process.status() == psutil.STATUS_ZOMBIE:
                    continue
                environment = Path(f"/proc/{process.pid}/environ").read_bytes()
                words = [process.cwd(), *process.cmdline()]
            except (psutil.Error, OSError):
                continue
            if str(self.root).encode() in environment or any(str(self.root) in word for word in words):
                yield process


@pytest.fixture
def pages(browser: "Browser", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pages]:
    for name in ("PREFECT_API_URL", "PREFECT_HOME", "MLFLOW_TRACKING_URI"):
        monkeypatch.delenv(name, raising=False)
    page = browser.new_page(
        viewport={"width": 1280, "height": 900}
    )  # before the folder changes: no process of this run
    page.set_default_timeout(1000 * PAGE_S)
    root = repository(tmp_path / "repository")
    monkeypatch.setenv("PYTHONPATH", str(root))
    monkeypatch.chdir(root)
    ports = [f"--{name}-port={port}" for name, port in free_ports().items()]
    compass = [sys.executable, "-m", "compass.cli"]
    started = subprocess.run([*compass, "up", "--json", *ports], capture_output=True, text=True)
    try:
        assert started.returncode == 0, started.stderr
        services = json.loads((root / ".compass" / "services.json").read_text())
        yield Pages(root, page, services["prefect"]["url"])
    finally:
        page.context.close()
        subprocess.run([*compass, "down", "--force"], check=True)


def test_start_watch_and_cancel_from_the_pages(pages: Pages) -> None:
    pages.look("/deployments", "denoise")

    # One stage with a changed setting, through its form.
    pages.open_form("denoise")
    pages.fill("min_problem_chars", "17")
    pages.look(pages.page.url, "min_problem_chars")
    run = pages.submit()
    ended = pages.wait_for_state(run, *ENDED)
    assert ended["type"] == "COMPLETED", ended
    assert "min_problem_chars: 17" in (pages.root / "params.yaml").read_text()
    wait_for(lambda: pages.tasks(run).get("denoise") == "Completed", 60)
    assert any("dvc exp run -S denoise.min_problem_chars=17 denoise" in line for line in pages.logs(run))
    funnel = json.loads(pages.artifacts(run)["drop-funnel"])
    assert [row["stage"] for row in funnel][:3] == ["collect", "dedup", "denoise"]
    clean = subprocess.run([sys.executable, "-m", "dvc", "status", "denoise"], capture_output=True, text=True)
    assert "up to date" in clean.stdout
    pages.look(f"/runs/flow-run/{run}", "terminal command that does the same")
    pages.look(f"/runs/flow-run/{run}", "drop-funnel", tab="Artifacts")
    pages.look(pages.artifact_page(run, "drop-funnel"), "most frequent reasons")

    # Two runs that are started within a second: one waits, visibly.
    both = [pages.start("denoise", force=True, run="this stage alone") for _ in range(2)]
    late = wait_for(lambda: [one for one in both if pages.state(one)["name"] == "Waiting"], PAGE_S)[0]
    pages.look(f"/runs/flow-run/{late}", "waiting for")
    for one in both:
        assert pages.wait_for_state(one, *ENDED)["type"] == "COMPLETED"

    # An RL stage, cancelled from its page while Ray and vLLM train.
    pages.open_form("rl-3")
    pages.fill("steps", "150")
    run = pages.submit()
    wait_for(lambda: _iterations(pages, run) > 0 or pages.state(run)["type"] in ENDED, RUN_S)
    assert pages.state(run)["type"] == "RUNNING", pages.state(run)
    words = "\n".join(pages.at_work().values())
    assert "raylet" in words
    assert any(title in words for title in ENGINE), words
    pages.look(f"/runs/flow-run/{run}", "terminal command that does the same")
    pages.page.goto(f"{pages.prefect}/runs/flow-run/{run}", wait_until="commit")
    pages.page.get_by_role("button", name="Cancel", exact=True).first.click()
    pages.page.get_by_role("button", name="Confirm").wait_for()
    before = pages.at_work()
    pages.page.get_by_role("button", name="Confirm").click()
    asked = time.monotonic()
    gone: dict[int, float] = {}
    while (left := pages.at_work()) and time.monotonic() - asked < 3 * CANCEL_S:
        gone |= {pid: time.monotonic() - asked for pid in before.keys() - left.keys() - gone.keys()}
        time.sleep(0.1)
    gone |= {pid: time.monotonic() - asked for pid in before.keys() - left.keys() - gone.keys()}
    assert not left, left
    assert max(gone.values()) < CANCEL_S, {before[pid][:120]: seconds for pid, seconds in gone.items()}
    assert pages.wait_for_state(run, *ENDED, seconds=60)["type"] == "CANCELLED"
    wait_for(lambda: pages.tasks(run).get("rl-3") == "Cancelled", 60)
    pages.look(f"/runs/flow-run/{run}", "terminal command that does the same")

    # A plain `dvc repro` goes on from there; a few iterations more are enough to see it.
    trained = _iterations(pages, run)
    params = yaml.safe_load((pages.root / "params.yaml").read_text())["rl"]["stages"]["rl-3"]
    assert params["steps"] == 150
    written = (pages.root / "params.yaml").read_text()
    (pages.root / "params.yaml").write_text(written.replace("steps: 150", f"steps: {trained + 2}"))
    again = subprocess.run([sys.executable, "-m", "dvc", "repro", "rl-3"], capture_output=True, text=True)
    assert again.returncode == 0, again.stdout + again.stderr
    assert _iterations(pages, run=None) == trained + 2

    # The pipeline does what is left, and leads to MLflow.
    pages.open_form("0-pipeline")
    run = pages.submit()
    ended = pages.wait_for_state(run, *ENDED, seconds=2 * RUN_S)
    assert ended["type"] == "COMPLETED", ended
    wait_for(lambda: pages.tasks(run).get("evaluate") == "Completed", 60)
    assert pages.tasks(run)["denoise"] == "Cached"
    assert "rl-3" in pages.artifacts(run)["scores"]
    pages.look(f"/runs/flow-run/{run}", "terminal command that does the same")
    pages.look(f"/runs/flow-run/{run}", "mlflow-run", tab="Artifacts")
    pages.look(pages.artifact_page(run, "scores"), "benchmark")
    [link] = re.findall(r"\((http[^)]+/runs/[^)]+)\)", pages.artifacts(run)["mlflow-run"])
    pages.look(link, "Metrics")


def _iterations(pages: Pages, run: str | None) -> int:
    """Iterations that rl-3 has recorded; 0 as long as `run` has not begun it."""
    path = pages.root / "work" / "progress" / "rl-3.json"
    said = json.loads(path.read_text()) if path.exists() else {}
    if run and run not in said.get("run", ""):
        return 0
    return int(said["done"]) if said.get("unit") == "iterations" else 0
