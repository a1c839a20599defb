"""Files in object stores and elsewhere, by URL: `s3://`, `gs://`, `hf://`, `https://` and whatever else fsspec opens.

Rows are read as they come; nothing is copied to this machine first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from compass.errors import UserError
from compass.extras import MODULES


class RemoteError(UserError):
    """A URL that cannot be opened; the message says why."""


@dataclass(frozen=True, order=True)
class RemotePath:
    """What reading needs of `pathlib.Path`, for a URL."""

    url: str

    def __str__(self) -> str:
        return self.url

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.url.rstrip("/").rpartition("/")[2]

    def exists(self) -> bool:
        """Whether a file or folder is there."""
        return bool(self._ask("exists"))

    def is_dir(self) -> bool:
        """Whether it is a folder."""
        return bool(self._ask("isdir"))

    def is_file(self) -> bool:
        """Whether it is a file."""
        return bool(self._ask("isfile"))

    def iterdir(self) -> Iterator[RemotePath]:
        """What a folder holds."""
        for name in self._ask("ls", detail=False):
            yield RemotePath(f"{self.url.rstrip('/')}/{name.rstrip('/').rpartition('/')[2]}")

    def open(self, mode: str = "rb") -> BinaryIO:
        """The file, read as it comes."""
        return self._ask("open", mode)

    def _ask(self, what: str, *arguments: Any, **options: Any) -> Any:
        import fsspec

        try:
            system, path = fsspec.core.url_to_fs(self.url)
            return getattr(system, what)(path, *arguments, **options)
        except FileNotFoundError:
            raise
        except ImportError as error:
            extra = next((extra for module, extra in MODULES.items() if module in str(error)), "")
            remedy = f"pip install 'compass-thinker[{extra}]'" if extra else "install it"
            raise RemoteError(f"{self.url}: the package that opens it is missing ({error}); {remedy}") from None
        except (OSError, ValueError) as error:  # no network, no access, no such protocol
            reason = next(iter(str(error).splitlines()), type(error).__name__)
            raise RemoteError(f"{self.url}: cannot be opened ({reason}); check the address and your access") from None


def path_or_url(text: str) -> Path | RemotePath:
    """A path of this machine, or a URL."""
    return RemotePath(text) if "://" in text else Path(text)
