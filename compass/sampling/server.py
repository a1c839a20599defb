"""Sampling from OpenAI-compatible servers, with the same seeds and prompts as the offline engine: one client for one server or several.

A prompt with a template of its own is sent to `/v1/completions`: as tokens where the weights are known, else as text, to which the server
adds its first token. Any other is sent as messages (`/v1/chat/completions`), to which the server applies the model's template. A response
comes whole: what a killed run loses is what was in hand.

A server that answers 429 is asked less, and later. One that answers with another error, with half a response or not at all gets no work
until it has answered a completion of one token (`/health` and `/v1/models` answer with a dead engine too); the others get what it had.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from compass.prompts.prompt import Prompt, render
from compass.prompts.registry import find_prompt
from compass.sampling.engine import encode_prompt, sample_seed
from compass.sampling.model_source import Model, SamplingError, Server
from compass.sampling.response import CUT_OFF, FAILED, PROMPT_TOO_LONG, Response, Wanted
from compass.settings import Sampling

API_KEY = "COMPASS_API_KEY"
"""Environment variable with the servers' key. It has a name of its own, so that no key goes to a server that it is not for."""

IN_HAND = 256
"""Responses that a server has in hand at most, the number that vLLM decodes at once on a small GPU."""

TOGETHER = 16
"""Samples of a problem that are one request, where the server tells the tokens of each."""

TIMEOUT = 1800.0
"""Seconds for one request."""

QUIET = 60.0
"""Seconds without an answer after which a server that has work is asked for a completion of one token."""

PROBE = 300.0
"""Seconds for that completion, which may wait for others."""

BACK_OFF = 1.0, 60.0
"""Seconds before a server is asked again, the first and the longest; they double."""

PATIENCE = 900.0
"""Seconds for which no server may answer."""

FAILS = 8
"""Servers' errors after which a problem counts as failed."""


def find_server(url: str, *, model: str = "", name: str = "") -> Server:
    """The model that a server offers.

    Args:
        url: the server's, with or without `/v1`.
        model: which of its models; needed where it has several.
        name: what the user calls it; the model's id by default.

    Raises:
        SamplingError: the URL is none, the server does not answer, or it does not offer that model.
    """
    base = url.rstrip("/")
    if urlsplit(base).scheme not in ("http", "https") or not urlsplit(base).hostname:
        raise SamplingError(f"{url}: not the URL of a server; give one such as http://127.0.0.1:8000/v1")
    base = base if base.endswith("/v1") else f"{base}/v1"
    offered, version = asyncio.run(_describe(base))
    names = [one["id"] for one in offered]
    if model and model not in names:
        raise SamplingError(f"{base}: offers {', '.join(names) or 'no model'}, not {model!r}")
    if not model and len(names) != 1:
        raise SamplingError(f"{base}: offers {', '.join(names) or 'no model'}; choose one with --server-model")
    chosen = model or names[0]
    length = next(_told_length(one) for one in offered if one["id"] == chosen)
    return Server(base, chosen, name or chosen, version, max_model_len=length)


def find_served(urls: Sequence[str], weights: Model) -> Server:
    """The servers that offer a model whose weights are known.

    Args:
        urls: the servers'; one that does not answer is left out with a warning.
        weights: the model's folder or hub revision; servers offer it by that path, absolute or as given, or by its hub id.

    Raises:
        SamplingError: no server answers, none offers the model, or they run different versions.
    """
    ids = {weights.path, str(Path(weights.path).resolve())}
    found, offers, silent = [], [], []
    for url in urls:
        base = url.rstrip("/").removesuffix("/v1") + "/v1"
        try:
            offered, version = asyncio.run(_describe(base))
        except SamplingError as error:
            silent.append(str(error))
            continue
        own = [one for one in offered if ids & {one["id"], one.get("root")}]
        offers.append(f"{base} offers {', '.join(one['id'] for one in offered) or 'no model'}")
        if own:
            id_, length = own[0]["id"], _told_length(own[0])
            found.append(Server(base, id_, weights.path, version, weights=weights, max_model_len=length))
    if not found:
        raise SamplingError(
            f"engines.servers: none offers {weights.path}, as `vllm serve {weights.path}` does: {'; '.join(offers + silent)}"
        )
    for told in silent:
        print(f"warning: {told}", file=sys.stderr)
    if len(versions := {one.version for one in found}) > 1:
        raise SamplingError(
            f"engines.servers: their versions differ ({', '.join(sorted(versions))}), and so may what they sample; use one"
        )
    return replace(found[0], more=tuple(found[1:]))


@dataclass
class _Request:
    """Samples of one problem that are asked for together: their numbers follow each other."""

    wanted: list[Wanted]
    fails: int = 0


class _Work:
    """Requests that no server has in hand."""

    def __init__(self, wanted: Iterable[Wanted]) -> None:
        self._wanted = iter(wanted)
        self._again: deque[_Request] = deque()
        self._ahead = next(self._wanted, None)

    def __bool__(self) -> bool:
        return bool(self._again) or self._ahead is not None

    def take(self, together: int) -> _Request:
        """The next one, of so many samples at most."""
        if self._again:
            return self._again.popleft()
        assert self._ahead is not None
        group = [self._ahead]
        while one := next(self._wanted, None):
            if len(group) == together or (one.id, one.sample) != (group[0].id, group[0].sample + len(group)):
                break
            group.append(one)
        self._ahead = one
        return _Request(group)

    def put_back(self, request: _Request) -> None:
        """Ask again, next."""
        self._again.appendleft(request)


@dataclass
class _Asked:
    """A server, and what it has in hand."""

    server: Server
    limit: int = IN_HAND
    tasks: dict[asyncio.Task, _Request] = field(default_factory=dict)
    probe: asyncio.Task | None = None
    heard: float = 0.0
    """When it last answered."""

    rest_until: float = 0.0
    rest: float = BACK_OFF[0]
    trouble: str = ""

    @property
    def free(self) -> bool:
        """Whether it may be asked for more."""
        in_hand = sum(len(request.wanted) for request in self.tasks.values())
        return self.probe is None and in_hand < self.limit and time.monotonic() >= self.rest_until

    def slow_down(self, seconds: float = 0.0) -> None:
        """Ask less, and not before some seconds: those it says, or twice as many as last time."""
        if time.monotonic() >= self.rest_until:
            self.limit = max(1, self.limit // 2)
            self.rest_until = time.monotonic() + min(BACK_OFF[1], max(seconds, self.rest * random.uniform(0.75, 1.25)))
            self.rest = min(BACK_OFF[1], 2 * self.rest)


class _Trouble(Exception):
    """A request without a response, to be tried again."""

    def __init__(self, message: str, *, busy: bool = False, seconds: float = 0.0) -> None:
        super().__init__(message)
        self.busy, self.seconds = busy, seconds


class ServerEngine:
    """Servers of one model, ready to sample."""

    def __init__(self, server: Server, sampling: Sampling) -> None:
        """Prepare to ask them.

        Raises:
            SamplingError: one takes fewer tokens than the settings allow, so that it would refuse prompts that are not too long; or the
                tokenizer that a prompt with a template of its own needs cannot be loaded.
        """
        servers = (server, *server.more)
        for one in servers:
            if 0 < one.max_model_len < sampling.max_model_len:
                raise SamplingError(
                    f"{one.url}: takes {one.max_model_len} tokens of prompt and response together, `max_model_len` is "
                    f"{sampling.max_model_len}; start the server with `--max-model-len {sampling.max_model_len}`, or lower the setting"
                )
        self._servers = [_Asked(one) for one in servers]
        self._sampling = sampling
        self._prompt = find_prompt(sampling.model_dump())
        self._tokenizer = _load_tokenizer(server.weights) if self._prompt.chat_template and server.weights else None
        self._loop = asyncio.new_event_loop()
        self._done: deque[tuple[_Asked, asyncio.Task]] = deque()
        self._woken = asyncio.Event()

    def __enter__(self) -> ServerEngine:
        self._session = self._loop.run_until_complete(_open(TIMEOUT))
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        self._loop.run_until_complete(self._close())
        self._loop.close()

    def sample(self, wanted: Iterable[Wanted], *, seed: int) -> Iterator[Response]:
        """Whole responses, each as soon as it is there, in no particular order.

        Raises:
            SamplingError: a server refuses a request, or none answers any more.
        """
        # One kind after the other, as the offline engine does: seeds beside greedy requests are ignored by vLLM on CPUs.
        for greedy, kind in groupby(wanted, key=attrgetter("greedy")):
            greedy = greedy or self._sampling.temperature == 0
            # vLLM tells the tokens of each sample; others tell the sum.
            self._together = 1 if greedy or not all(one.server.version for one in self._servers) else TOGETHER
            yield from self._run(_Work(kind), seed)

    async def _close(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._session.close()

    def _run(self, work: _Work, seed: int) -> Iterator[Response]:
        """Keep every server busy until all is done."""
        for one in self._servers:
            one.heard = time.monotonic()
        while work or any(one.tasks for one in self._servers):
            for one in self._servers:
                while work and one.free:
                    request = work.take(self._together)
                    self._follow(one, self._ask(one.server, request.wanted, seed), request)
            self._loop.run_until_complete(self._wait())
            while self._done:
                one, task = self._done.popleft()
                request = one.tasks.pop(task)
                if not task.cancelled() and isinstance(task.exception(), SamplingError):
                    raise task.exception()  # type: ignore[misc]
                try:
                    responses = task.result()
                except (_Trouble, asyncio.CancelledError) as error:
                    yield from self._try_again(one, request, error, work, seed)
                    continue
                one.heard, one.rest, one.limit = time.monotonic(), BACK_OFF[0], min(IN_HAND, one.limit + 1)
                yield from responses
                for rest in reversed(request.wanted[len(responses) :]):
                    work.put_back(_Request([rest]))
            self._watch(seed)

    def _follow(self, one: _Asked, coroutine: Any, request: _Request) -> None:
        def note(task: asyncio.Task) -> None:
            self._done.append((one, task))
            self._woken.set()

        task = self._loop.create_task(coroutine)
        one.tasks[task] = request
        task.add_done_callback(note)

    async def _wait(self) -> None:
        """Until something has ended, or a moment."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._woken.wait(), 0.25)
        self._woken.clear()

    def _try_again(
        self, one: _Asked, request: _Request, error: BaseException, work: _Work, seed: int
    ) -> Iterator[Response]:
        """What follows from a request without a response; yields what has failed for good."""
        if isinstance(error, _Trouble) and error.busy:
            one.slow_down(error.seconds)
            one.trouble = str(error)
        else:
            request.fails += 1
            one.trouble = str(error) or one.trouble
            self._examine(one, request.wanted[0], seed)
        if request.fails < FAILS:
            work.put_back(request)
            return
        name = request.wanted[0].id
        print(f"warning: problem {name} had {FAILS} errors and is left out: {one.trouble}", file=sys.stderr)
        yield from (Response(wanted, 0, FAILED, "") for wanted in request.wanted)

    def _examine(self, one: _Asked, wanted: Wanted, seed: int) -> None:
        """Give a server no more work until it has answered a completion of one token."""
        if one.probe is None:
            one.slow_down()
            one.probe = self._loop.create_task(self._probe(one, wanted, seed))

    async def _probe(self, one: _Asked, wanted: Wanted, seed: int) -> None:
        while one.probe is not None:
            await asyncio.sleep(max(0.0, one.rest_until - time.monotonic()))
            try:
                async with asyncio.timeout(PROBE):
                    await self._ask(one.server, [wanted], seed, most=1)
                one.heard, one.probe = time.monotonic(), None
            except (_Trouble, TimeoutError, SamplingError) as error:
                one.trouble = str(error) or f"no completion in {PROBE:.0f} s"
                one.slow_down(getattr(error, "seconds", 0.0))
                if not getattr(error, "busy", False):
                    for task in one.tasks:
                        task.cancel()

    def _watch(self, seed: int) -> None:
        """Examine servers that have work and have not answered for long, and those that last did not answer.

        Raises:
            SamplingError: no server has answered for `PATIENCE` seconds.
        """
        now = time.monotonic()
        if all(now - one.heard > PATIENCE for one in self._servers):
            told = "; ".join(f"{one.server.url}: {one.trouble or 'no answer'}" for one in self._servers)
            raise SamplingError(f"{told}; what is finished is kept, run again")
        for one in self._servers:
            if one.probe is None and one.tasks and now - one.heard > QUIET:
                self._examine(one, next(iter(one.tasks.values())).wanted[0], seed)

    async def _ask(self, server: Server, wanted: list[Wanted], seed: int, most: int = 0) -> list[Response]:
        """Responses to one request, the first of those that are wanted, at least one.

        Raises:
            _Trouble: the server is busy, ill or gone.
            SamplingError: it refuses the request.
        """
        first = wanted[0]
        options: dict[str, Any] = {"model": server.model, "max_tokens": most or self._sampling.max_tokens}
        if self._prompt.stop:
            options["stop"] = list(self._prompt.stop)
        if first.greedy or self._sampling.temperature == 0:
            options["temperature"] = 0.0
        else:
            options |= {"temperature": self._sampling.temperature, "top_p": self._sampling.top_p}
            options["seed"] = sample_seed(seed, first.id, first.sample)
        if server.version:  # vLLM would take these from the model's generation_config.json, which the engine ignores
            options |= {"top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0}
        if len(wanted) > 1:
            options |= {"n": len(wanted), "return_token_ids": True}  # sample i is then drawn with the seed + i
        if self._prompt.chat_template:
            answer = await self._post(server, "completions", {"prompt": self._whole_prompt(first.problem), **options})
        else:
            options |= {"messages": self._prompt.messages(first.problem), **_template_options(self._prompt)}
            answer = await self._post(server, "chat/completions", options)
        if answer is None:
            return [Response(one, 0, PROMPT_TOO_LONG, "") for one in wanted]
        try:
            return self._read(answer, wanted)
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise _Trouble(f"an answer that cannot be read ({type(error).__name__}: {_short(error)})") from None

    def _whole_prompt(self, problem: str) -> list[int] | str:
        """A prompt in a template of its own: the engine's tokens, or the text where the tokenizer is unknown; then the server adds its
        first token.
        """
        if self._tokenizer is None:
            return render(self._prompt.chat_template or "", self._prompt.messages(problem))
        return encode_prompt(self._tokenizer, self._prompt, problem)

    def _read(self, answer: dict[str, Any], wanted: list[Wanted]) -> list[Response]:
        found = []
        for one, choice in zip(wanted, sorted(answer["choices"], key=lambda choice: choice["index"]), strict=False):
            if "message" in choice:
                message = choice["message"]
                thought = message.get("reasoning") or message.get(
                    "reasoning_content"
                )  # vLLM's name, and that of others
                text = (f"<think>{thought}</think>" if thought else "") + (message.get("content") or "")
            else:
                text = choice["text"]
            if (reason := choice.get("finish_reason")) not in ("stop", CUT_OFF):
                # vLLM aborts what it has in hand when it is ended.
                raise _Trouble(f"a response that ended by {reason!r}")
            ids, usage = choice.get("token_ids"), answer.get("usage") or {}
            tokens = len(ids) if ids is not None else usage.get("completion_tokens") or 0
            found.append(Response(one, tokens, reason, self._prompt.cut(text)))
            if ids is None and len(wanted) > 1:
                self._together = 1  # it tells their sum alone
                return []
        if not found:
            raise _Trouble("an answer without a choice")
        return found

    async def _post(self, server: Server, path: str, body: dict[str, Any]) -> dict[str, Any] | None:
        """What a server answers; None where the prompt is too long."""
        import aiohttp

        try:
            async with self._session.post(f"{server.url}/{path}", json=body, allow_redirects=False) as reply:
                if reply.status == 200:
                    return await reply.json(content_type=None)
                text, status = await reply.text(errors="replace"), reply.status
                seconds = reply.headers.get("retry-after", "")
        except (aiohttp.ClientError, OSError, ValueError, TimeoutError) as error:
            raise _Trouble(_short(error)) from None
        if status == 400 and "maximum context length" in text:
            return None
        if status == 429:
            raise _Trouble(f"429 {_short(text)}", busy=True, seconds=float(seconds) if seconds.isdigit() else 0.0)
        if status >= 500 or status == 408:
            raise _Trouble(f"{status} {_short(text)}")
        raise SamplingError(f"{server.url}: {status} {_short(text)}; what is finished is kept, run again")


def _load_tokenizer(weights: Model) -> Any:
    """A model's tokenizer.

    Raises:
        SamplingError: there is none.
    """
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(weights.path, revision=weights.revision or None)
    except (OSError, ValueError) as error:
        raise SamplingError(
            f"{weights.path}: its tokenizer cannot be loaded ({_short(error)}); put the whole model there"
        ) from None


def _template_options(prompt: Prompt) -> dict[str, Any]:
    """What a server gives to the model's chat template; the reasoning effort has a field of its own, which servers without templates know too."""
    given = dict(prompt.template_kwargs)
    effort = {"reasoning_effort": given.pop("reasoning_effort")} if "reasoning_effort" in given else {}
    return effort | ({"chat_template_kwargs": given} if given else {})


async def _open(seconds: float) -> Any:
    """A session that sends the key; errors of aiohttp are not shown whole, for they hold what was sent."""
    import aiohttp

    key = os.environ.get(API_KEY)
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),
        headers={"Authorization": f"Bearer {key}"} if key else {},
        timeout=aiohttp.ClientTimeout(total=seconds, sock_connect=10),
        trust_env=True,
    )


async def _describe(base: str) -> tuple[list[dict[str, Any]], str]:
    """The models that a server offers, and the version that vLLM tells beside its API (empty for other servers)."""
    import aiohttp

    async with await _open(30) as session:
        try:
            async with session.get(f"{base}/models", allow_redirects=False) as reply:
                if reply.status != 200:
                    raise SamplingError(f"{base}/models: {reply.status} {_short(await reply.text(errors='replace'))}")
                models = (await reply.json(content_type=None))["data"]
        except (aiohttp.ClientError, OSError, ValueError, KeyError, TypeError) as error:
            raise SamplingError(
                f"{base}/models: {_short(error)}; is it an OpenAI-compatible server that runs?"
            ) from None
        try:
            async with session.get(base.removesuffix("/v1") + "/version", allow_redirects=False) as reply:
                version = (await reply.json(content_type=None))["version"]
        except (aiohttp.ClientError, OSError, ValueError, KeyError, TypeError):
            version = ""
    return models, version if isinstance(version, str) else ""


def _told_length(offered: dict[str, Any]) -> int:
    """Tokens that prompt and response may have together, as a server describes its model; 0 where it does not say it."""
    length = offered.get("max_model_len")
    return length if isinstance(length, int) else 0


def _short(said: object) -> str:
    """What an error says, without what was sent and without the key, should a server repeat it."""
    text = " ".join(str(said).split())[:300] or type(said).__name__
    key = os.environ.get(API_KEY)
    return text.replace(key, "***") if key else text
