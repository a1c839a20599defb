"""Fixtures that several folders use."""

import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pyarrow as pa
import pytest
import yaml
from hypothesis import HealthCheck, settings

from compass.files import file_digest
from compass.records import record_id, table
from compass.settings import RlStage, Settings
from stages._rl_entries import named_deps

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT / ".." / "shared" / "data"

# The same examples in every run, however long one takes: what a test of properties finds depends on the code alone.
settings.register_profile("repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("repeatable")

PAGE_MS = 120_000
"""Milliseconds for Chromium to start, and for a page to show what it is looked at for: a busy machine takes more than its usual 30,000."""


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real sources and benchmarks; tests that need it are skipped where it is absent."""
    if not SHARED.exists():
        pytest.skip("needs the folder ../shared/data beside the repository")
    return SHARED


def data_rows(name: str) -> list[dict[str, Any]]:
    """The rows of a file of `tests/data`."""
    return [json.loads(line) for line in (ROOT / "tests/data" / name).read_text(encoding="utf-8").splitlines()]


def changed_profile(name: str, values: dict[str, Any]) -> dict[str, Any]:
    """A profile's tree with some values set; dots reach into sections and lists, and None takes a key away."""
    tree = yaml.safe_load((ROOT / f"profiles/{name}.yaml").read_text())
    for key, value in values.items():
        *sections, last = key.split(".")
        section = tree
        for one in sections:
            section = section[int(one)] if isinstance(section, list) else section.setdefault(one, {})
        place = int(last) if isinstance(section, list) else last
        if value is None:
            del section[place]
        else:
            section[place] = value
    return tree


def fitted_graph(settings: Settings, root: Path) -> str:
    """The repository's dvc.yaml with the files that parameters name, as `make deps` writes it, without a look at the code."""
    text = (ROOT / "dvc.yaml").read_text()
    for stage, named in named_deps(settings, root).items():
        head = f"    cmd: python -m stages.{stage}\n    deps:\n"
        text = text.replace(head, head + "".join(f"      - {dep}\n" for dep in named))
    return text


def changed_stage(name: str, values: dict[str, Any]) -> RlStage:
    """The first RL stage of a profile with some values set."""
    return Settings.model_validate(changed_profile(name, values)).rl.stages["rl-1"]


def digests(folder: Path) -> dict[str, str]:
    """Digest of every file below a folder, by its path there."""
    return {path.relative_to(folder).as_posix(): file_digest(path) for path in folder.rglob("*") if path.is_file()}


def has_ended(pid: int, seconds: float = 60) -> bool:
    """Whether a process ends within some seconds; one whose status nobody has asked for has ended."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.05)
    return False


def copy_of_the_repository(folder: Path) -> Path:
    """The working tree's files, without what git ignores, copied into a folder."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    """Headless Chromium, that of the system; tests that need it are skipped where it is absent.

    Per module: while it is open, no other test of the process can run an event loop.
    """
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        pytest.skip("needs Chromium: `apt-get install chromium`")
    with sync_playwright() as playwright:
        # Root, as in containers, has no sandbox; the pages are the tests' own.
        started = playwright.chromium.launch(
            executable_path=program, chromium_sandbox=os.geteuid() != 0, timeout=PAGE_MS
        )
        yield started
        started.close()


@pytest.fixture
def look(browser: "Browser") -> Iterator[Callable[..., "Page"]]:
    """`look(path, width=1280, **context)` opens a file and returns Playwright's page.

    When the test ends, nothing may have been asked of a network, and no page may have printed an error.
    """
    pages, complaints = [], []

    def open_file(path: Path, width: int = 1280, **context: object) -> "Page":
        page = browser.new_page(viewport={"width": width, "height": 800}, **context)
        page.set_default_timeout(PAGE_MS)
        pages.append(page)
        page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda asked: complaints.append(asked.url) if asked.url.startswith(("http", "ws")) else None)
        page.goto(path.resolve().as_uri())
        return page

    yield open_file
    for page in pages:
        page.context.close()
    assert complaints == []


@pytest.fixture(scope="session")
def records() -> Callable[..., pa.Table]:
    """`records((problem, answer, source), ...)` or `records((problem, answer, source, {column: value}), ...)`."""

    def build(*rows: tuple) -> pa.Table:
        made = []
        for number, (problem, answer, source, *more) in enumerate(rows):
            row = {
                "id": record_id(source, str(number)),
                "source": source,
                "source_id": str(number),
                "problem": problem,
                "answer": answer,
                "solution": "",
            }
            made.append({**row, **(more[0] if more else {})})
        return table(made)

    return build


@pytest.fixture
def pipeline(tmp_path: Path, records: Callable[..., pa.Table]) -> tuple[Path, list[str]]:
    """A pipeline's `data/` with rows of every fate, and the ids of its rows.

    Of seven rows, five of `web` and two of `book`, these are dropped: 6 by collect, 4 by dedup (3 stands for it), 0 by
    denoise, 5 by verify, 1 by curriculum. 2 and 3 are left; rl-1 and rl-3 recorded rewards of 2.
    """
    import pyarrow.parquet as pq

    from compass.ledger import Drop, Reason, split
    from compass.records import with_column, write_records
    from compass.settings.denoise import NoiseReason

    folder = tmp_path / "data"
    text = "Tom has {} books and buys 3 more of them. How many books does Tom have now?"
    web = [(text.format(n), str(n + 3), "web", {"licence": "MIT", "source_level": "2"}) for n in range(5)]
    book = [(f"What is {n} plus {n}?", str(2 * n), "book", {"licence": "CC0", "source_level": ""}) for n in (5, 6)]
    rows = records(*web, *book)
    ids = rows["id"].to_pylist()

    def write(stage: str, table: pa.Table, drops: dict[int, Drop]) -> pa.Table:
        chosen = [drops.get(ids.index(id_)) for id_ in table["id"].to_pylist()]
        kept, dropped = split(table, chosen, stage)
        write_records(folder / stage / "kept.parquet", kept)
        write_records(folder / stage / "dropped.parquet", dropped)
        return kept

    def fill(table: pa.Table, **columns: list) -> pa.Table:
        for name, values in columns.items():
            table = with_column(table, name, values)
        return table

    rows = write("collect", rows, {6: Drop(Reason.MISSING_ANSWER, {"fields": ["answer"]})})
    write_records(
        folder / "collect" / "benchmarks.parquet", records(("What is 1?", "1", "bench"), ("2?", "2", "bench"))
    )
    rows = write("dedup", rows, {4: Drop(Reason.NEAR_DUPLICATE, {"twin": ids[3], "similarity": 0.9})})
    rows = fill(rows, cluster=rows["id"].to_pylist(), cluster_size=[1, 1, 1, 2, 1])
    write_records(folder / "dedup" / "kept.parquet", rows)
    rows = write("denoise", rows, {0: Drop(NoiseReason.LINK, {"text": "example.org"})})
    rows = write("grade", fill(rows, n_rollouts=[4] * 4, solve_rate=[0.25] * 4, level=[4] * 4), {})
    rollouts = [
        {"id": id_, "sample": n, "answer": str(n), "correct": n == 3}
        for id_ in rows["id"].to_pylist()
        for n in range(4)
    ]
    pq.write_table(pa.Table.from_pylist(rollouts), folder / "grade" / "rollouts.parquet")
    rows = fill(rows, answer_type=["integer"] * 4)
    rows = write("verify", rows, {5: Drop(Reason.UNREADABLE_GOLD, {"answer": "10"})})
    rows = fill(rows, stages=["rl-1,rl-3"] * 3)
    write("curriculum", rows, {1: Drop(Reason.SOLVE_RATE, {"solve_rate": 0.25, "range": [0.5, 1.0]})})
    for stage in ("rl-1", "rl-3"):
        rewards = [
            {"step": step, "id": ids[2], "reward": reward, "response_tokens": tokens, "used": step == 2}
            for step, group in ((2, ((1.0, 10), (-1.0, 13))), (5, ((1.0, 20), (1.0, 20))))
            for reward, tokens in group
        ]
        (folder / stage).mkdir()
        pq.write_table(pa.Table.from_pylist(rewards), folder / stage / "rewards.parquet")
    return folder, ids


@pytest.fixture(scope="session")
def random_model() -> Callable[[Path, int], Path]:
    """Makes a model folder with random weights: `random_model(folder, seed)`. Tokens are single bytes."""
    return make_random_model


def make_random_model(folder: Path, seed: int) -> Path:
    """A Qwen2 of 0.6M parameters that ends a response now and then, saved in `folder`."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    vocabulary = {token: number for number, token in enumerate(special + sorted(pre_tokenizers.ByteLevel.alphabet()))}
    tokens = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokens.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokens.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=tokens, pad_token=special[0], eos_token=special[2], additional_special_tokens=special[1:2]
    )
    tokenizer.chat_template = (
        "{% for message in messages %}<|im_start|>{{ message['content'] }}<|im_end|>{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>{% endif %}"
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    model = Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=len(vocabulary),
            hidden_size=128,
            intermediate_size=352,
            num_hidden_layers=3,
            num_attention_heads=4,  # head size 32, the smallest of vLLM's CPU attention
            num_key_value_heads=2,
            max_position_embeddings=512,
            tie_word_embeddings=True,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
            initializer_range=0.06,
        )
    )
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.save_pretrained(folder)
    return folder


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C raises, even where the tests were started in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class OpenAiServer(ThreadingHTTPServer):
    request_queue_size = 256
    """Connections that wait. Of more than these (5 by default) the kernel drops some, and a client tries again after up to a minute."""


@pytest.fixture
def openai_server() -> Iterator[ThreadingHTTPServer]:
    """A server on this machine that speaks as much of OpenAI's protocol as is asked of it.

    It answers with what it was asked and the seed. `models` are what it offers, `asked` what it was asked (path, body, key), and
    `answers` maps a user's text to another answer.
    """
    made = OpenAiServer(("127.0.0.1", 0), OpenAiHandler)
    made.models, made.asked, made.answers, made.tells_tokens = ["m"], [], {}, True
    made.url = f"http://127.0.0.1:{made.server_address[1]}"
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


class OpenAiHandler(BaseHTTPRequestHandler):
    """Answers with what it was asked; the problem "long" is too long, "broken" is refused."""

    def do_GET(self) -> None:
        if self.path == "/version":
            self._send(200, {"version": "9.9"})
        elif self.path == "/v1/models":
            self._send(
                200,
                {
                    "object": "list",
                    "data": [{"id": name, "object": "model", "max_model_len": 4096} for name in self.server.models],
                },
            )
        else:
            self._send(404, {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append((self.path, body, self.headers.get("authorization")))
        said = str(body["prompt"]) if "prompt" in body else body["messages"][-1]["content"]
        refused = {"long": "This model's maximum context length is 16 tokens.", "broken": "no such thing"}
        if said.startswith("ill") and body["max_tokens"] > 1:
            self._send(500, {"error": {"message": "an error"}})
            return
        if said in refused:
            self._send(400, {"error": {"message": refused[said]}})
            return
        number = body.get("n", 1)
        choices = [self._choice(said, body, index) for index in range(number)]
        self._send(200, {"id": "1", "object": "x", "created": 0, "model": "m", "choices": choices,
                         "usage": {"completion_tokens": 5 * number, "prompt_tokens": 3, "total_tokens": 8}})  # fmt: skip

    def _choice(self, said: str, body: dict, index: int) -> dict:
        seed = body["seed"] + index if "seed" in body else None
        text = self.server.answers.get(said, f"{said} by {seed}")
        found = {"index": index, "finish_reason": "length" if said == "much" else "stop"}
        found |= {"text": text} if "prompt" in body else {"message": {"role": "assistant", "content": text}}
        if said == "think":
            found["message"] |= {(body["seed"] % 2 and "reasoning") or "reasoning_content": "Let me see."}
        return found | ({"token_ids": [1] * 5} if body.get("return_token_ids") and self.server.tells_tokens else {})

    def _send(self, status: int, content: dict) -> None:
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass
