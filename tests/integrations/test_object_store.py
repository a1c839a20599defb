"""DVC's remote and `compass curate` on an object store: moto's server, which speaks S3 on 127.0.0.1."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

for package in ("moto", "dvc_s3", "s3fs"):
    pytest.importorskip(
        package, reason=f"{package} is not installed: pip install -r requirements/s3.txt 'moto[server]'"
    )

ROOT = Path(__file__).parents[2]
BUCKET = "made"


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty bucket, reached as any other: by the environment."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "made",
        "AWS_SECRET_ACCESS_KEY": "made",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    boto3.client("s3").create_bucket(Bucket=BUCKET)
    yield boto3.client("s3")
    server.stop()


def run(*command: str, cwd: Path) -> str:
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "DVC_NO_ANALYTICS": "1",
        "DVC_SITE_CACHE_DIR": str(cwd / "site"),
    }
    ran = subprocess.run([sys.executable, "-m", *command], cwd=cwd, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_dvc_pushes_and_pulls(store, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    run("dvc", "init", "-q", cwd=tmp_path)
    run("dvc", "remote", "add", "-d", "shared", f"s3://{BUCKET}/compass", cwd=tmp_path)
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"problem": "What is 1 + 1?", "answer": "2"}\n')
    run("dvc", "add", "-q", "rows.jsonl", cwd=tmp_path)
    run("dvc", "push", cwd=tmp_path)
    assert [key["Key"] for key in store.list_objects_v2(Bucket=BUCKET)["Contents"]]
    rows.unlink()
    for path in (tmp_path / ".dvc" / "cache").rglob("*"):
        if path.is_file():
            path.chmod(0o600)
            path.unlink()
    run("dvc", "pull", cwd=tmp_path)
    assert "1 + 1" in rows.read_text()


def test_curate_reads_sources_and_benchmarks_by_url(store, tmp_path: Path) -> None:
    problems = [
        ("How many legs have 4 dogs and 3 birds in the yard?", "22"),
        ("What is the sum of 17 and 26 and 9?", "52"),
    ]
    rows = "".join(json.dumps({"problem": problem, "answer": answer}) + "\n" for problem, answer in problems)
    store.put_object(Bucket=BUCKET, Key="raw/rows.jsonl", Body=rows.encode())
    store.put_object(Bucket=BUCKET, Key="bench.jsonl", Body=rows.splitlines()[1].encode() + b"\n")
    addresses = [f"s3://{BUCKET}/{name}" for name in ("raw/rows.jsonl", "bench.jsonl")]
    run("compass.cli", "curate", addresses[0], "--benchmark", addresses[1], "--out", "curated", cwd=tmp_path)
    summary = json.loads((tmp_path / "curated" / "summary.json").read_text())
    assert (summary["read"], summary["kept"]) == (2, 1)
    assert summary["stages"]["denoise"]["dropped"] == {"contaminated": 1}
