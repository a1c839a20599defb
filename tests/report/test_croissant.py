"""The metadata against mlcroissant's own reader and the vocabularies; the YAML against the hub's own card."""

from __future__ import annotations

import json

import mlcroissant
import pytest
import rdflib
import yaml
from huggingface_hub import DatasetCard, DatasetCardData

from compass.cli import main
from compass.report.croissant import front_matter
from compass.report.data_card import write_card
from compass.report.outputs import open_outputs

PROV = rdflib.Namespace("http://www.w3.org/ns/prov#")
RAI = rdflib.Namespace("http://mlcommons.org/croissant/RAI/")
TWINS = "Ann has {} books and buys 4 more of them in a shop. How many books does she have?"


@pytest.fixture(scope="module")
def curated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("raw")
    rows = [{"problem": TWINS.format(n // 2), "answer": str(n // 2 + 4)} for n in range(30)]
    (folder / "a source.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path_factory.mktemp("out") / "curated"
    assert main(["curate", str(folder / "a source.jsonl"), "--out", str(out)]) == 0
    return out


def test_mlcroissant_accepts_the_metadata_and_reads_the_kept_rows_by_it(curated):
    dataset = mlcroissant.Dataset(jsonld=str(curated / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
    assert dataset.metadata.ctx.is_v1_1()
    rows = list(dataset.records(record_set="kept"))
    assert len(rows) == 15
    assert {row["kept/answer"] for row in rows} == {str(n + 4).encode() for n in range(15)}
    dropped = list(dataset.records(record_set="dedup/dropped"))
    assert {row["dedup/dropped/reason"] for row in dropped} == {b"exact_duplicate"}


def test_provenance_and_responsible_ai_are_statements_of_their_vocabularies(curated):
    graph = rdflib.Graph().parse(curated / "croissant.json", format="json-ld")
    (dataset,) = graph.subjects(PROV.wasDerivedFrom)
    (source,) = graph.objects(dataset, PROV.wasDerivedFrom)
    assert graph.value(source, PROV.label) == rdflib.Literal("a source", lang="en")
    activities = list(graph.objects(dataset, PROV.wasGeneratedBy))
    labels = {str(graph.value(activity, PROV.label)) for activity in activities}
    assert labels == {"collect", "dedup", "denoise", "verify"}
    assert sum(bool(graph.value(activity, PROV.wasInformedBy)) for activity in activities) == 3
    for activity in activities:
        agent = graph.value(activity, PROV.wasAssociatedWith)
        assert (agent, rdflib.RDF.type, PROV.SoftwareAgent) in graph
    protocols = [str(text) for text in graph.objects(dataset, RAI.dataPreprocessingProtocol)]
    assert "dedup: read 30, kept 15; dropped exact_duplicate 15" in protocols
    assert list(graph.objects(dataset, RAI.dataLimitations))


def test_the_metadata_names_no_folder_of_this_machine_and_is_the_same_again(curated, tmp_path):
    text = (curated / "croissant.json").read_text()
    assert str(curated.parent) not in text
    assert "/tmp" not in text
    outputs = open_outputs(curated)
    write_card(outputs, curated)
    assert (curated / "croissant.json").read_text() == text


def test_the_hub_reads_the_cards_yaml(curated):
    card = DatasetCard.load(curated / "card.md")
    assert isinstance(card.data, DatasetCardData)
    assert card.data.license == "unknown"
    assert card.data.size_categories == ["n<1K"]
    assert card.data.language == ["en"]
    assert card.data.task_categories == ["question-answering", "text-generation"]
    default, dropped = card.data.to_dict()["configs"]
    assert (curated / default["data_files"][0]["path"]).is_file()
    assert all((curated / path).is_file() for path in dropped["data_files"][0]["path"])
    assert card.text.lstrip().startswith("# Data card")


@pytest.mark.parametrize(
    ("rows", "licences", "size", "licence"),
    [
        (999, ["MIT"], "n<1K", "mit"),
        (1_000, ["MIT", "CC-BY-4.0"], "1K<n<10K", ["mit", "cc-by-4.0"]),
        (5_000_000, ["Some terms", "own"], "1M<n<10M", "other"),
        (0, [], "n<1K", ["unknown"]),
    ],
)
def test_sizes_and_licences_are_the_hubs_names(rows, licences, size, licence):
    fields = yaml.safe_load(front_matter("kept.parquet", [], rows, licences, []).strip("-\n"))
    assert fields["size_categories"] == [size]
    assert fields["license"] == licence
    assert "language" not in fields
    assert len(fields["configs"]) == 1
