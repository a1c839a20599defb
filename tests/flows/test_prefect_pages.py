"""Prefect's pages in a real browser: run a stage with a changed setting, then the pipeline; cancel an RL stage; open MLflow.

Ten minutes from nothing; `COMPASS_DEBUG_RUN` names a repository in which the debug profile is finished, to start from a copy.
Screenshots at 1280 and 390 pixels are in `COMPASS_SCREENSHOTS`, or in the test's folder.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import psutil
import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
ENDED = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")


def repository(folder: Path) -> Path:
    """A copy of this repository with the debug profile in force, or of a finished run of it."""
    if done := os.environ.get("COMPASS_DEBUG_RUN"):
        shutil.copytree(done, folder, symlinks=True)
        return folder
    subprocess.run(["git", "clone", "-q", ROOT, folder], check=True)
    named = subprocess.run(["git", "ls-files", "-mo", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    for name in named.stdout.split():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    shutil.copy(folder / "profiles" / "debug.yaml", folder / "params.yaml")
    return folder


class Pages:
    """The servers of one repository, and a browser page that looks at them."""

    def __init__(self, root: Path, page: "Page", shots: Path, urls: dict[str, str]) -> None:
        self.root, self.page, self.shots = root, page, shots
        self.prefect, self.mlflow = urls["prefect"], urls["mlflow"]

    def ask(self, path: str, **body: Any) -> Any:
        return httpx.post(f"{self.prefect}/api/{path}", json=body, timeout=30).json()

    def state(self, run: str) -> dict[str, Any]:
        return httpx.get(f"{self.prefect}/api/flow_runs/{run}", timeout=30).json()["state"]

    def open_form(self, deployment: str) -> None:
        """From the list of deployments to the form of one."""
        self.page.goto(f"{self.prefect}/deployments")
        self.page.get_by_placeholder("Search deployments").fill(deployment)
        self.page.get_by_role("link", name=deployment, exact=True).first.click()
        self.page.get_by_role("button", name="Run").first.click()
        self.page.get_by_text("Custom run").click()
        self.page.get_by_text("Parameters").first.wait_for()

    def fill(self, setting: str, value: str) -> None:
        self.page.locator(f"xpath=//*[starts-with(normalize-space(text()), '{setting} ')]/following::input[1]").fill(
            value
        )

    def submit(self) -> str:
        """Start the run that the form describes; its id."""
        before = {run["id"] for run in self.ask("flow_runs/filter", limit=200)}
        self.page.get_by_role("button", name="Submit").click()
        return wait_for(
            lambda: next(
                (run["id"] for run in self.ask("flow_runs/filter", limit=200) if run["id"] not in before), None
            ),
            30,
        )

    def look(self, path: str, name: str, wait_s: float = 3) -> None:
        """Screenshots of a page at both widths."""
        for width in (1280, 390):
            self.page.set_viewport_size({"width": width, "height": 900})
            self.page.goto(path if path.startswith("http") else f"{self.prefect}{path}")
            self.page.wait_for_timeout(1000 * wait_s)
            self.page.screenshot(path=self.shots / f"{name}-{width}.png", full_page=True)
        self.page.set_viewport_size({"width": 1280, "height": 900})

    def artifacts(self, run: str) -> dict[str, Any]:
        wanted = {"artifacts": {"flow_run_id": {"any_": [run]}}}
        return {artifact["key"]: artifact["data"] for artifact in self.ask("artifacts/filter", **wanted)}

    def tasks(self, run: str) -> dict[str, str]:
        wanted = {"flow_runs": {"id": {"any_": [run]}}}
        return {task["name"]: task["state_name"] for task in self.ask("task_runs/filter", **wanted)}

    def logs(self, run: str) -> list[str]:
        entries = self.ask("logs/filter", logs={"flow_run_id": {"any_": [run]}}, limit=200)
        return [entry["message"] for entry in entries]

    def processes(self) -> list[psutil.Process]:
        """The processes at work on stages of this repository."""
        found = []
        for process in psutil.process_iter():
            try:
                words = " ".join(process.cmdline())
                here = process.cwd().startswith(str(self.root)) or str(self.root) in words
                if here and re.search(r"prefect\.engine|dvc|stages\.|compass\.rl|ray|vllm|VLLM", words):
                    found.append(process)
            except psutil.Error:
                continue
        return [process for process in found if process.status() != psutil.STATUS_ZOMBIE]


def wait_for(what: Callable[[], Any], seconds: float) -> Any:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := what():
            return found
        time.sleep(0.5)
    raise TimeoutError(f"nothing came within {seconds:g} s")


@pytest.fixture
def pages(browser: "Browser", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pages]:
    for name in ("PREFECT_API_URL", "PREFECT_HOME", "MLFLOW_TRACKING_URI"):
        monkeypatch.delenv(name, raising=False)
    root = repository(tmp_path / "repository")
    monkeypatch.setenv("PYTHONPATH", str(root))
    monkeypatch.chdir(root)
    ports = [f"--{name}-port={_free_port()}" for name in ("prefect", "mlflow", "live")]
    compass = [sys.executable, "-m", "compass.cli"]
    started = subprocess.run([*compass, "up", "--json", *ports], capture_output=True, text=True)
    assert started.returncode == 0, started.stderr
    services = json.loads((root / ".compass" / "services.json").read_text())
    shots = Path(os.environ.get("COMPASS_SCREENSHOTS") or tmp_path / "screenshots")
    shots.mkdir(parents=True, exist_ok=True)
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    try:
        yield Pages(root, page, shots, {name: entry["url"] for name, entry in services.items()})
    finally:
        page.context.close()
        subprocess.run([*compass, "down", "--force"], check=True)


def test_start_watch_and_cancel_from_the_pages(pages: Pages) -> None:
    pages.look("/deployments", "deployments", wait_s=5)

    # One stage with a changed setting, through its form.
    pages.open_form("denoise")
    pages.page.screenshot(path=pages.shots / "form.png", full_page=True)
    pages.fill("min_problem_chars", "17")
    run = pages.submit()
    ended = wait_for(lambda: _ended(pages, run), 240)
    assert ended["type"] == "COMPLETED", ended
    assert "min_problem_chars: 17" in (pages.root / "params.yaml").read_text()
    assert wait_for(lambda: pages.tasks(run).get("denoise") == "Completed", 60)
    assert any("dvc exp run -S denoise.min_problem_chars=17 denoise" in line for line in pages.logs(run))
    assert [row["stage"] for row in pages.artifacts(run)["drop-funnel"]][:3] == ["collect", "dedup", "denoise"]
    clean = subprocess.run([sys.executable, "-m", "dvc", "status", "denoise"], capture_output=True, text=True)
    assert "up to date" in clean.stdout
    pages.look(f"/runs/flow-run/{run}", "denoise-run")
    pages.look(f"/runs/flow-run/{run}?tab=Artifacts", "denoise-artifacts")

    # An RL stage, cancelled from its page while it trains.
    pages.open_form("rl-1")
    pages.fill("steps", "50")
    run = pages.submit()
    wait_for(lambda: [p for p in pages.processes() if "compass.rl" in " ".join(p.cmdline())], 420)
    time.sleep(10)
    pages.look(f"/runs/flow-run/{run}", "rl-run")
    pages.page.goto(f"{pages.prefect}/runs/flow-run/{run}")
    pages.page.get_by_role("button", name="Cancel").first.click()
    pages.page.get_by_role("dialog").get_by_role("button", name="Cancel").last.click()
    asked = time.monotonic()
    wait_for(lambda: not pages.processes(), 30)
    assert time.monotonic() - asked < 25
    assert wait_for(lambda: _ended(pages, run), 30)["type"] == "CANCELLED"
    assert wait_for(lambda: pages.tasks(run).get("rl-1") == "Cancelled", 60)
    pages.look(f"/runs/flow-run/{run}", "rl-cancelled")

    # The pipeline goes on at once, and leads to MLflow.
    pages.open_form("rl-1")
    pages.fill("steps", "2")
    run = pages.submit()
    assert wait_for(lambda: _ended(pages, run), 420)["type"] == "COMPLETED"
    pages.open_form("pipeline")
    run = pages.submit()
    ended = wait_for(lambda: _ended(pages, run), 560)
    assert ended["type"] == "COMPLETED", ended
    assert pages.tasks(run)["denoise"] == "Cached"
    pages.look(f"/runs/flow-run/{run}", "pipeline-run")
    pages.look(f"/runs/flow-run/{run}?tab=Artifacts", "pipeline-artifacts")
    links = re.findall(r"\((http[^)]+/runs/[^)]+)\)", str(pages.artifacts(run).get("mlflow-run", "")))
    if links:  # nothing ran where every stage was cached, and MLflow has no run of it
        pages.look(links[0], "mlflow-run", wait_s=8)
        assert pages.page.get_by_text("debug").first.is_visible()


def _ended(pages: Pages, run: str) -> dict[str, Any] | None:
    state = pages.state(run)
    return state if state["type"] in ENDED else None


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]
