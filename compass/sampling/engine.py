"""The vLLM offline engine, on CPU and GPU by the same code.

    with Engine(find_model("models/base"), sampling) as engine:
        responses = engine.sample({"id-1": "What is 2+3?"}, n=8, greedy=True, seed=0)

Start-up is kept short: on CPU the engine runs inside this process (no second import of torch and vLLM) and the model's
class is inspected here, not in a subprocess, so that a further model in the same process costs about a second. Every
engine reads its weights from disk: the CPU backend repacks linear weights, so that weights exchanged in place may be
ignored silently.
"""

from __future__ import annotations

import ctypes
import gc
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from compass import environment
from compass.prompts import chat_messages
from compass.sampling.model_source import Model, SamplingError
from compass.sampling.progress import SamplingProgress
from compass.sampling.response import PROMPT_TOO_LONG, Response
from compass.settings import Sampling

CPU_BATCHED_TOKENS = 8192
"""Prompt tokens in one CPU step; at least the model's longest input, since prompts are not cut into chunks there."""

CPU_SEQUENCES = 512
"""Responses decoded at once on CPU."""


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
        on_cpu = current_platform.is_cpu()
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
        if not self._tokenizer.chat_template:
            self.close()
            raise SamplingError(
                f"{model.path}: its tokenizer has no chat template; add chat_template.jinja to the model"
            )

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        self.close()

    def sample(
        self,
        problems: Mapping[str, str],
        *,
        n: int,
        greedy: bool,
        seed: int,
        progress: SamplingProgress | None = None,
    ) -> list[Response]:
        """Sample `n` responses for each problem, and one greedy response with `greedy`.

        Every response has a random generator of its own, seeded by `seed`, the problem's id and the sample's number:
        what is sampled for a problem does not depend on the problems beside it (but for rounding in the model).

        Args:
            problems: id to text.
            n: samples per problem; 0 for the greedy response alone.
            greedy: also decode greedily; that response has `sample` 0 and `greedy` set.
            seed: the run's seed.
            progress: told of finished responses.

        Returns:
            Responses by problem in the order given, the samples before the greedy response. A prompt too long for
            `max_model_len` is not cut: it has responses without text, `finish_reason` `prompt_too_long`.
        """
        prompts = {name: self._encode(problem) for name, problem in problems.items()}
        room = self.sampling.max_model_len - self.sampling.max_tokens
        fitting = [name for name, tokens in prompts.items() if len(tokens) <= room]
        responses: dict[str, list[Response]] = {name: [] for name in problems}
        # Samples and greedy responses are decoded separately: vLLM's CPU sampler ignores the seeds of a batch in which some
        # request has none, and greedy requests have none.
        for is_greedy in [False] * (n > 0) + [True] * greedy:
            parameters = [self._parameters(n, is_greedy, request_seed(seed, name)) for name in fitting]
            outputs = self._run([prompts[name] for name in fitting], parameters, progress)
            for name, output in zip(fitting, outputs, strict=True):
                for choice in output.outputs:
                    text = self._tokenizer.decode(choice.token_ids, skip_special_tokens=True)
                    length = len(choice.token_ids)
                    responses[name].append(Response(name, choice.index, is_greedy, length, choice.finish_reason, text))
        too_long = [name for name in problems if not responses[name]]
        for name in too_long:
            responses[name] = [Response(name, sample, False, 0, PROMPT_TOO_LONG, "") for sample in range(n)]
            responses[name] += [Response(name, 0, True, 0, PROMPT_TOO_LONG, "")] * greedy
        if progress and too_long:
            progress.advance(len(too_long) * (n + greedy), 0)
        return [response for sampled in responses.values() for response in sampled]

    def close(self) -> None:
        """Free the model's memory. Safe to call twice."""
        if self._llm is None:
            return
        from vllm.distributed import cleanup_dist_env_and_memory

        self._llm.llm_engine.engine_core.shutdown()
        self._llm = None
        gc.collect()
        cleanup_dist_env_and_memory()

    def _run(self, prompts: list[list[int]], parameters: list[Any], progress: SamplingProgress | None) -> list[Any]:
        """One finished output per prompt, in the order of the prompts."""
        if not prompts:
            return []
        self._llm.enqueue([{"prompt_token_ids": tokens} for tokens in prompts], parameters, use_tqdm=False)
        engine = self._llm.llm_engine
        outputs = []
        while engine.has_unfinished_requests():
            for output in engine.step():
                if not output.finished:
                    continue
                outputs.append(output)
                if progress:
                    progress.advance(len(output.outputs), sum(len(choice.token_ids) for choice in output.outputs))
        return sorted(outputs, key=lambda output: int(output.request_id))

    def _encode(self, problem: str) -> list[int]:
        messages = chat_messages(
            problem, system_prompt=self.sampling.system_prompt, prompt_suffix=self.sampling.prompt_suffix
        )
        return self._tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, tokenize=True, return_dict=False
        )

    def _parameters(self, n: int, greedy: bool, seed: int) -> Any:
        from vllm import SamplingParams

        # Detokenising whole responses afterwards is cheaper than vLLM's token by token.
        shared: dict[str, Any] = {"max_tokens": self.sampling.max_tokens, "detokenize": False}
        if greedy or self.sampling.temperature == 0:
            return SamplingParams(n=1 if greedy else n, temperature=0.0, **shared)
        return SamplingParams(
            n=n, temperature=self.sampling.temperature, top_p=self.sampling.top_p, seed=seed, **shared
        )


def request_seed(seed: int, name: str) -> int:
    """The seed of a problem's first sample; vLLM adds the sample's number for the others."""
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
