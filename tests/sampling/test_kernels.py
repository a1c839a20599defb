"""A library that is missing is named, and not the function that is missed later."""

from pathlib import Path

import pytest

from compass.sampling.engine import load_error


@pytest.fixture
def needs_an_absent_library(tmp_path: Path) -> Path:
    """A copy of a real extension module that links `libabsent1.so.0` in place of libpthread."""
    import yaml

    original = Path(yaml.__file__).parent
    module = next(original.glob("_yaml*.so"))
    data = module.read_bytes()
    assert data.count(b"libpthread.so.0\0") == 1
    copy = tmp_path / "module.so"
    copy.write_bytes(data.replace(b"libpthread.so.0\0", b"libabsent1.so.0\0"))
    return copy


def test_a_missing_library_is_named(needs_an_absent_library: Path) -> None:
    assert load_error(needs_an_absent_library) == (
        "libabsent1.so.0: cannot open shared object file: No such file or directory"
    )


def test_a_library_that_loads_has_no_error() -> None:
    assert load_error(Path("libc.so.6")) == ""
