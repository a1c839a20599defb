"""The page that is shown first."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from compass.services.servers import find_page
from compass.services.state import Service
from compass.tracking.record import DEFAULT_EXPERIMENT


class Answers(BaseHTTPRequestHandler):
    """Answers as MLflow's REST API does for one experiment."""

    def do_GET(self) -> None:
        known = self.server.experiment if self.path.endswith(f"experiment_name={DEFAULT_EXPERIMENT}") else None
        self.send_response(200 if known else 404)
        self.end_headers()
        self.wfile.write(json.dumps({"experiment": known}).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    made = HTTPServer(("127.0.0.1", 0), Answers)
    made.experiment = None
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


def test_the_first_page_is_the_list_of_pipeline_runs(server: HTTPServer) -> None:
    url = f"http://127.0.0.1:{server.server_address[1]}"
    mlflow = Service("mlflow", 1, 0, url, "log")
    assert find_page(mlflow) == f"{url}/#/experiments"
    server.experiment = {"experiment_id": "7"}
    pipelines = "searchFilter=tags.%60compass.kind%60%20%3D%20%27pipeline%27"
    assert find_page(mlflow) == f"{url}/#/experiments/7/runs?workflowType=machine_learning&{pipelines}"
    assert find_page(Service("live", 1, 0, url, "log")) == url
    assert find_page(Service("deployments", 1, 0, None, "log")) is None
