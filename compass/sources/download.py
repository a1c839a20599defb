"""Public files brought into a folder: resumed where they were cut off, and checked by size and SHA-256 before anything reads them."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from compass.errors import UserError
from compass.files import atomic_path, file_digest
from compass.progress import report
from compass.sources.published_files import Published, PublishedSet
from compass.sources.read import file_rows

if TYPE_CHECKING:
    import httpx

_HUB_FILE = re.compile(r"https://huggingface\.co/datasets/([^/]+/[^/]+)/resolve/([^/]+)/(.+)")

TRIES = 5
"""Connections for one file, each of which goes on where the one before was cut off."""

LONGEST = 4 << 30
"""Bytes of a file whose size nobody has counted, at most."""

SECONDS = 60.0
"""Without a byte, after which a connection counts as cut off."""


class DownloadError(UserError):
    """A file that cannot be had, or is another one than the published; the message says which, what was found and what to do."""


def download_set(published: PublishedSet, folder: Path, mirror: str = "") -> Path:
    """Write a set's rows into its place in a folder.

    Args:
        published: which.
        folder: what COMPASS_DATA names.
        mirror: see `download`.

    Returns:
        The file, one JSON object per line.

    Raises:
        DownloadError: a file cannot be had or is another one, or there are not as many rows as published.
    """
    target = folder / published.path
    target.parent.mkdir(parents=True, exist_ok=True)
    files = [download(one, folder / "downloads", mirror) for one in published.files]
    rows = 0
    with atomic_path(target) as temporary:
        with gzip.GzipFile(temporary, "wb", mtime=0) as out:
            for one, file in zip(published.files, files, strict=True):
                for row in _published_rows(file):
                    out.write(json.dumps({**row, **one.added}, ensure_ascii=False).encode() + b"\n")
                    rows += 1
        if rows != published.rows:
            raise DownloadError(
                f"{published.name}: expected {published.rows:,} rows, found {rows:,} in {', '.join(map(str, files))}"
            )
    for file in files:
        _remove(file, folder)
    return target


def download_file(published: Published, target: Path, folder: Path, mirror: str = "") -> Path:
    """Write a file as it is published; arguments and errors as of `download_set`."""
    file = download(published, folder / "downloads", mirror)
    target.parent.mkdir(parents=True, exist_ok=True)
    file.replace(target)
    _remove(file, folder)
    return target


def download(published: Published, folder: Path, mirror: str = "") -> Path:
    """Bring a file into a folder, by the host and path of its address.

    A download that was cut off goes on from its last byte. A file that is there whole is not asked for again.

    Args:
        published: the file.
        folder: where downloads are.
        mirror: a folder or URL that has files by host and path, as `wget --mirror` leaves them; empty asks the address itself.

    Raises:
        DownloadError: it cannot be had, or its size or hash is another.
    """
    address = urlsplit(published.url)
    place = PurePosixPath(address.netloc, *[part for part in address.path.split("/") if part not in ("", "..")])
    file = folder / place
    if file.is_file() and _is_whole(file, published):
        return file
    part = file.with_name(f"{file.name}.part")
    part.parent.mkdir(parents=True, exist_ok=True)
    if mirror and "://" not in mirror:
        _copy(Path(mirror).expanduser() / place, part)
    elif not mirror and (named := _HUB_FILE.fullmatch(published.url)):
        _fetch_from_hub(*named.groups(), part)
    else:
        _fetch(f"{mirror.rstrip('/')}/{place}" if mirror else published.url, part, published.size)
    _check(part, published)
    part.replace(file)
    return file


def _fetch(url: str, part: Path, size: int) -> None:
    """Have all bytes of an address in a file, after those that are in it."""
    import httpx

    with httpx.Client(follow_redirects=True, timeout=SECONDS) as client:
        for attempt in range(TRIES):
            try:
                return _fetch_rest(client, url, part, size)
            except httpx.TransportError as error:
                reason = str(error) or type(error).__name__
            except httpx.HTTPStatusError as error:
                reason = f"{error.response.status_code} {error.response.reason_phrase}"
                if error.response.status_code < 500 and error.response.status_code != 429:
                    raise DownloadError(
                        f"{url}: the server answers {reason}", "check your access, or give --mirror"
                    ) from None
            if attempt + 1 < TRIES:
                time.sleep(2**attempt / 4)
    raise DownloadError(
        f"{url}: cut off after {_size(part):,} bytes{f' of {size:,}' * bool(size)} ({reason})",
        "run the command again, which goes on from there, or give --mirror",
    )


def _fetch_rest(client: httpx.Client, url: str, part: Path, size: int) -> None:
    have = _size(part)
    if size and have == size:
        return
    # Without compression: a range counts bytes of the file, not those of what is sent.
    asked = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with client.stream("GET", url, headers=asked) as answer:
        if answer.status_code == 416:  # all of it is here, or the beginning of another file
            if answer.headers.get("content-range", "").rpartition("/")[2] == str(have):
                return
            part.unlink()
            have = 0
        elif answer.status_code == 200:  # the server knows no ranges
            have = 0
        if answer.status_code != 416:
            answer.raise_for_status()
            _write(answer, part, have, size or have + int(answer.headers.get("content-length", 0)))
            return
    _fetch_rest(client, url, part, size)


def _write(answer: httpx.Response, part: Path, have: int, size: int) -> None:
    """Write what comes behind the bytes that are there, up to the file's size."""
    most = size or LONGEST
    with open(part, "r+b" if have else "wb") as out:
        out.seek(have)
        for piece in answer.iter_raw():
            have += len(piece)
            if have > most:
                raise DownloadError(f"{answer.url}: longer than {most:,} bytes, and so another file", "give --mirror")
            out.write(piece)
            report(have / 1e6, size / 1e6 or None, "MB", part.name.removesuffix(".part"))


def _fetch_from_hub(hub: str, revision: str, name: str, part: Path) -> None:
    """Have a file of a hub dataset, by the hub's own library: it resumes, checks, and knows the user's token."""
    from httpx import HTTPError
    from huggingface_hub import hf_hub_download

    folder = part.with_name(f"{part.name}.hub")
    try:
        found = hf_hub_download(hub, name, repo_type="dataset", revision=revision, local_dir=folder)
    except (OSError, ValueError, HTTPError) as error:  # what huggingface_hub raises, without a network as well
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise DownloadError(
            f"{hub} at {revision}, {name}: cannot be had from the hub ({reason[:300]})",
            "check the network, accept its terms and log in if it is gated, or give --mirror",
        ) from None
    Path(found).replace(part)
    shutil.rmtree(folder)


def _copy(file: Path, part: Path) -> None:
    if not file.is_file():
        raise DownloadError(
            f"{file}: the mirror has no such file",
            "a mirror has files by host and path, as `wget --mirror` leaves them",
        )
    shutil.copyfile(file, part)


def _check(part: Path, published: Published) -> None:
    """Take away a file that is another one.

    Raises:
        DownloadError: its size or hash is not the published one.
    """
    if _is_whole(part, published):
        return
    found = f"{_size(part):,} bytes, SHA-256 {file_digest(part)}"
    part.unlink()
    raise DownloadError(
        f"{published.url}: is another file than the published one: expected {published.size:,} bytes, SHA-256 {published.sha256}; found {found}",
        "nothing of it was kept; look at what the address or the mirror has",
    )


def _is_whole(file: Path, published: Published) -> bool:
    if published.size and _size(file) != published.size:
        return False
    return not published.sha256 or file_digest(file) == published.sha256


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _published_rows(file: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file, or of the only file of a zip archive."""
    if file.suffix != ".zip":
        yield from (row for _, row in file_rows(file))
        return
    with zipfile.ZipFile(file) as archive, tempfile.TemporaryDirectory() as folder:
        (name,) = archive.namelist()
        inside = Path(folder) / PurePosixPath(name).name
        with archive.open(name) as packed, open(inside, "wb") as out:
            shutil.copyfileobj(packed, out)
        yield from (row for _, row in file_rows(inside))


def _remove(file: Path, folder: Path) -> None:
    """Take away a download and the folders that it leaves empty."""
    file.unlink(missing_ok=True)
    for parent in file.parents:
        if parent == folder or any(parent.iterdir()):
            return
        parent.rmdir()
