"""Prefect's server takes requests of its own page alone: it has no password, and a run of it executes code."""

import json
import os
import subprocess
import sys
from pathlib import Path

from compass.services.servers import environment, list_servers

ASK = """
import json, sys
from prefect.server.api.server import create_app
from starlette.testclient import TestClient

client, statuses = TestClient(create_app()), {}
for origin in sys.argv[1:]:
    asked = {"origin": origin, "access-control-request-method": "POST", "access-control-request-headers": "content-type"}
    statuses[origin] = client.options("/api/flow_runs/filter", headers=asked).status_code
print(json.dumps(statuses))
"""


def test_a_page_from_elsewhere_may_not_ask(tmp_path: Path) -> None:
    (tmp_path / ".compass/tmp").mkdir(parents=True)
    expected = {"http://127.0.0.1:4299": 200, "http://localhost:4299": 200, "http://evil.example": 400, "null": 400}
    variables = environment(tmp_path, list_servers(tmp_path, {"prefect": 4299})["prefect"])
    asked = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ASK, *expected],
        env={**variables, "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert json.loads(asked.stdout or "null") == expected, asked.stderr
