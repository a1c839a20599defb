"""The data card for programs: Croissant 1.1 metadata with its responsible-AI part and PROV-O provenance, and the hub's YAML.

Only what the outputs tell is stated: a creator, a date and an address are the publisher's to add. The same rows give the
same bytes.

Sources: https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html, the RAI vocabulary of the same place,
https://www.w3.org/TR/prov-o/, https://huggingface.co/docs/hub/datasets-cards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import yaml

from compass.files import file_digest
from compass.ledger import LEDGER, Counts
from compass.records import RECORD
from compass.report.printable import printable

NAME = "curated-math-problems"
TASKS = ["question-answering", "text-generation"]

_LICENCES = """
    apache-2.0 mit bsd-3-clause cc0-1.0 cc-by-4.0 cc-by-3.0 cc-by-sa-3.0 cc-by-sa-4.0 cc-by-nc-4.0 cc-by-nc-sa-4.0
    odbl odc-by gpl-3.0 unknown
"""
HUB_LICENCES = frozenset(_LICENCES.split())
"""Licences that the hub knows by name; any other is `other` there."""

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_SIZES += ((10_000_000, "1M<n<10M"), (100_000_000, "10M<n<100M"), (1_000_000_000, "100M<n<1B"))

_TYPES = {pa.int32(): "sc:Integer", pa.int64(): "sc:Integer", pa.float64(): "sc:Float", pa.bool_(): "sc:Boolean"}

_TERMS = """
    arrayShape citeAs column containedIn equivalentProperty extract field fileProperty fileObject fileSet format includes
    isArray isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated replace samplingRate
    separator source subField transform
"""
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "prov": "http://www.w3.org/ns/prov#",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "description": {"@container": "@language"},
    "name": {"@container": "@language"},
    "conformsTo": "dct:conformsTo",
    **{name: f"cr:{name}" for name in _TERMS.split()},
}


def croissant(
    files: Mapping[str, Path],
    stages: Sequence[Counts],
    licences: Sequence[str],
    origins: Mapping[str, str],
    limits: Sequence[str],
) -> dict[str, Any]:
    """The metadata of a curated set, as a JSON-LD object.

    Args:
        files: the last stage's kept rows, then each stage's dropped rows, by their paths from the metadata's own place.
        stages: what each stage read, kept and dropped, in their order.
        licences: of the kept rows, the most frequent first.
        origins: path or hub id of each source, empty where it is not known.
        limits: what the set is known not to guarantee.
    """
    first, *others = files
    kept = stages[-1].kept
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": NAME,
        "description": f"{kept:,} mathematics problems with answers that a program can check, of {stages[0].read:,} rows "
        f"read from {len(origins)} source{'s' * (len(origins) != 1)}; every dropped row is here too, with the reason and its evidence.",
        "license": [printable(name, 80) for name in licences],
        "keywords": ["mathematics", "reasoning", "reinforcement learning with verifiable rewards"],
        "isLiveDataset": False,
        "distribution": [_file(name, path) for name, path in files.items()],
        "recordSet": [
            _record_set("kept", "One row per kept problem.", first, RECORD),
            *(
                _record_set(
                    Path(name).with_suffix("").as_posix(), "One row per dropped row, with the reason.", name, LEDGER
                )
                for name in others
            ),
        ],
        "rai:dataCollection": f"Rows of {len(origins)} published sources, read as they are; each names its source.",
        "rai:dataCollectionType": ["Secondary Data Analysis"],
        "rai:dataPreprocessingProtocol": [_protocol(counts) for counts in stages],
        "rai:machineAnnotationTools": ["compass-thinker: answer types by its verifier"],
        "rai:dataUseCases": ["Training and evaluating models by answers that a program checks."],
        "rai:dataLimitations": list(limits),
        "prov:wasDerivedFrom": [_source(name, origin) for name, origin in origins.items()],
        "prov:wasGeneratedBy": [_activity(number, counts, stages) for number, counts in enumerate(stages)],
    }


def front_matter(
    kept: str, dropped: Sequence[str], rows: int, licences: Sequence[str], languages: Sequence[str]
) -> str:
    """The YAML at the top of a dataset card of the Hugging Face hub.

    Args:
        kept: the file of kept rows, from the card's own place.
        dropped: the files of dropped rows.
        rows: how many rows are kept.
        licences: of the kept rows.
        languages: that were kept, empty where it is not known.
    """
    known = dict.fromkeys(name.lower() if name.lower() in HUB_LICENCES else "other" for name in licences)
    configs = [{"config_name": "default", "data_files": [{"split": "train", "path": kept}]}]
    if dropped:
        configs.append({"config_name": "dropped", "data_files": [{"split": "train", "path": list(dropped)}]})
    fields = {
        "license": next(iter(known)) if len(known) == 1 else list(known) or ["unknown"],
        **({"language": list(languages)} if languages else {}),
        "task_categories": TASKS,
        "size_categories": [
            next((name for below, name in _SIZES if rows < below), "n>1T" if rows >= 10**12 else "1B<n<10B")
        ],
        "tags": ["math", "reasoning", "rlvr"],
        "configs": configs,
    }
    return f"---\n{yaml.safe_dump(fields, sort_keys=False, allow_unicode=True)}---\n\n"


def _file(name: str, path: Path) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{path.stat().st_size} B",
        "encodingFormat": "application/x-parquet",
        "sha256": file_digest(path),
    }


def _record_set(name: str, text: str, file: str, schema: pa.Schema) -> dict[str, Any]:
    fields = [_field(name, file, column) for column in schema]
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "description": text, "field": fields}


def _field(records: str, file: str, column: pa.Field) -> dict[str, Any]:
    is_list = pa.types.is_list(column.type)
    return {
        "@type": "cr:Field",
        "@id": f"{records}/{column.name}",
        "name": column.name,
        "dataType": _TYPES.get(column.type.value_type if is_list else column.type, "sc:Text"),
        **({"isArray": True, "arrayShape": "-1"} if is_list else {}),
        "source": {"fileObject": {"@id": file}, "extract": {"column": column.name}},
    }


def _protocol(counts: Counts) -> str:
    reasons = counts.reasons()
    return f"{counts.stage}: read {counts.read:,}, kept {counts.kept:,}" + (f"; dropped {reasons}" if reasons else "")


def _source(name: str, origin: str) -> dict[str, Any]:
    """A source: a dataset of the hub by its address, a file by its name alone, which tells nothing of a machine."""
    on_hub = bool(origin) and "/" in origin and not Path(origin).suffix and not origin.startswith((".", "/", "$", "~"))
    place = f"https://huggingface.co/datasets/{origin}" if on_hub else f"source/{quote(name)}"
    file = {} if on_hub or not origin else {"alternateName": printable(Path(origin).name, 80)}
    return {"@type": "prov:Entity", "@id": place, "prov:label": printable(name, 80), **file}


def _activity(number: int, counts: Counts, stages: Sequence[Counts]) -> dict[str, Any]:
    before = {"prov:wasInformedBy": {"@id": f"stage/{stages[number - 1].stage}"}} if number else {}
    return {
        "@type": "prov:Activity",
        "@id": f"stage/{counts.stage}",
        "prov:label": counts.stage,
        "description": _protocol(counts),
        **before,
        "prov:wasAssociatedWith": {"@type": "prov:SoftwareAgent", "@id": "agent/compass-thinker"},
    }
