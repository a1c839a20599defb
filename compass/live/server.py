"""The page's server: read-only, for this machine alone.

It listens on the loopback interface, and answers only requests that name it by a loopback name: a foreign page whose name
was made to point here (DNS rebinding) is refused. It knows no method but GET and HEAD, and what it sends may load
nothing from elsewhere and run no script but its own.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from compass.live.view import Reader
from compass.page.html import HERE as KIT
from compass.page.html import block_html

HERE = Path(__file__).parent / "page"

NAMES = ["127.0.0.1", "localhost"]
"""Hosts that a request may name; any port, since a tunnel may use another one."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-cache",
}


def make_app(root: Path = Path()) -> Starlette:
    """The page of the repository at `root`; `compass up` has uvicorn serve that of the folder it starts in."""
    reader = Reader(root)

    def page(request: Request) -> Response:
        return FileResponse(HERE / "index.html", media_type="text/html")

    def state(request: Request) -> Response:
        """What the page shows: `?stage=NAME&step=N`, both optional; with the time here, since the page counts on by itself."""
        asked = request.query_params
        step = asked.get("step", "")
        found = reader.newest().state(
            asked.get("stage", ""), int(step) if step.isdecimal() and len(step) < 10 else None
        )
        found["blocks"] = [block_html(block) for block in found["blocks"]]
        return Response(_encoded(found | {"now": time.time()}), media_type="application/json")

    routes = [
        Route("/", page, methods=["GET"]),
        Route("/api/state", state, methods=["GET"]),
        Route("/kit/page.css", lambda request: FileResponse(KIT / "page.css"), methods=["GET"]),
        Route("/kit/page.js", lambda request: FileResponse(KIT / "page.js"), methods=["GET"]),
        Mount("/page", StaticFiles(directory=HERE)),
        Mount("/reports", _Reports(directory=root / "reports", check_dir=False)),
    ]
    middleware = [
        Middleware(TrustedHostMiddleware, allowed_hosts=NAMES),
        Middleware(BaseHTTPMiddleware, dispatch=_add_headers),
        Middleware(GZipMiddleware),
    ]
    return Starlette(routes=routes, middleware=middleware)


class _Reports(StaticFiles):
    """The folder of reports, which need not exist yet."""

    async def check_config(self) -> None:
        """Leave out the base class's check: a folder that is not there has no files."""


async def _add_headers(request: Request, answer: RequestResponseEndpoint) -> Response:
    """Keep a browser from loading, running or framing anything; a report has a policy of its own."""
    response = await answer(request)
    response.headers.update(HEADERS)
    if not request.url.path.startswith("/reports/"):
        response.headers["content-security-policy"] = POLICY
    return response


def _encoded(value: Any) -> bytes:
    """JSON that every browser reads: no NaN, and no lone surrogates, which a model can write."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")
