"""What `compass doctor` looks at: a repository and its environment."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from compass.settings import Settings


@dataclass(frozen=True)
class Place:
    """What the checks look at."""

    root: Path
    """The repository's root."""
    installed: dict[str, str] = field(default_factory=dict)
    """Version of every installed package, by its normalised name."""

    @property
    def device(self) -> Literal["cpu", "gpu"]:
        """Which of the two locks is installed: the CPU build of torch says so in its version."""
        torch = self.installed.get("torch", "")
        if torch:
            return "cpu" if torch.endswith("+cpu") else "gpu"
        return "gpu" if (self.root / ".venv/.ready-gpu").exists() else "cpu"

    @cached_property
    def settings(self) -> Settings | None:
        """The parameters in force; None where they cannot be read, which the check of parameters reports."""
        from compass.settings import SettingsError, load_settings

        try:
            return load_settings(self.root / "params.yaml")
        except SettingsError:
            return None

    @cached_property
    def prerequisites(self) -> ModuleType:
        """`requirements/prerequisites.py`, which `make check` runs before there is an environment."""
        from importlib.util import module_from_spec, spec_from_file_location

        spec = spec_from_file_location("prerequisites", self.root / "requirements/prerequisites.py")
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
