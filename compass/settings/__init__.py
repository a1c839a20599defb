"""Typed parameters: one class per section of `params.yaml`, a docstring under each field.

`load_settings("params.yaml")` reads and checks a whole parameter file. An unknown key, a wrong type or an impossible
combination raises `SettingsError`, which names the file, the key, the value found and what is allowed.

Nothing here imports the rest of the library: what a parameter allows is written down in its section.
"""

from compass.settings.base import Base, Pretrain, WarmStart
from compass.settings.collect import Benchmark, Collect, Generator, Source
from compass.settings.curation import Curation
from compass.settings.curriculum import Curriculum
from compass.settings.dedup import Dedup, SemanticDedup
from compass.settings.denoise import Denoise
from compass.settings.engines import Engines
from compass.settings.evaluate import Evaluate
from compass.settings.grade import Grade
from compass.settings.load import SettingsError, check_values, known_keys, load_sections, load_settings
from compass.settings.pipeline import Settings
from compass.settings.prompting import Prompting
from compass.settings.report import Report
from compass.settings.rl import Rl, RlStage
from compass.settings.sampling import Sampling
from compass.settings.verify import Verify

__all__ = [
    "Base",
    "Benchmark",
    "Collect",
    "Curation",
    "Curriculum",
    "Dedup",
    "Denoise",
    "Engines",
    "Evaluate",
    "Generator",
    "Grade",
    "Pretrain",
    "Prompting",
    "Report",
    "Rl",
    "RlStage",
    "Sampling",
    "SemanticDedup",
    "Settings",
    "SettingsError",
    "Source",
    "Verify",
    "WarmStart",
    "check_values",
    "known_keys",
    "load_sections",
    "load_settings",
]
