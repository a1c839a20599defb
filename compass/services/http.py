"""HTTP to servers on this machine: never through a proxy, with short limits."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

TIMEOUT_S = 3.0

# A machine behind a proxy names it in http_proxy; that proxy knows nothing of this machine's own ports.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def answers(url: str, timeout_s: float = TIMEOUT_S) -> bool:
    """Whether a GET of `url` is answered with a status below 400."""
    try:
        with _OPENER.open(url, timeout=timeout_s) as response:
            return response.status < 400
    except (OSError, ValueError):  # refused, reset, too slow, an error's status; or something that is not HTTP
        return False


def ask(url: str, body: Any = None, timeout_s: float = TIMEOUT_S) -> Any:
    """The JSON that a GET, or a POST of `body`, gives.

    Raises:
        OSError: no answer in time, or one with an error's status.
        ValueError: the answer is not JSON.
    """
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    with _OPENER.open(request, timeout=timeout_s) as response:
        content = response.read()
    return json.loads(content) if content else None
