"""A run with another profile's values: the profile becomes the parameters in use, as `compass profile use` does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from compass.errors import UserError

AS_IT_IS = "as params.yaml is"
"""The choice that changes no profile."""


def profile_choices(root: Path) -> tuple[str, ...]:
    """What a form offers: the parameters as they are, or one of the profiles."""
    return (AS_IT_IS, *sorted(path.stem for path in (root / "profiles").glob("*.yaml")))


@contextmanager
def profile_in_force(root: Path, profile: str) -> Iterator[None]:
    """Put a profile in force for good, and take it back only where the block finds that it cannot be used.

    The values stay in `params.yaml` afterwards, so that `dvc status` agrees with what was run.

    Args:
        root: the repository's root, which is the current folder.
        profile: a choice of `profile_choices`.

    Raises:
        UserError: there is no such profile, or `params.yaml` holds edits that no profile has: they would be lost.
    """
    if profile == AS_IT_IS:
        yield
        return
    from compass.commands.profile import use

    files = [path for path in (root / "params.yaml", root / "dvc.yaml") if path.exists()]
    before = {path: path.read_bytes() for path in files}
    use(profile, force=False)
    try:
        yield
    except UserError:
        for path, content in before.items():
            path.write_bytes(content)
        raise
