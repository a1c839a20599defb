"""What `compass evaluate` and `memorised` are both asked for; and the models that they and `chat` are given: stages, folders, GGUF files, hub ids and servers."""

# Without postponed annotations: cyclopts would read those of `ModelsAsked` by the names of the modules that inherit from it.
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from compass.errors import UserError, did_you_mean

if TYPE_CHECKING:
    from compass.sampling.model_source import Model, Server


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ModelsAsked:
    """Which models are asked which problems, and where the results go."""

    benchmarks: Annotated[list[str], Parameter(consume_multiple=(1, None))]
    """names of benchmarks (`compass benchmarks` lists them), or files of problems."""
    server: tuple[str, ...] = ()
    """URL of an OpenAI-compatible server to ask; may be repeated."""
    server_model: str = ""
    """which of the server's models."""
    max_problems: int = 0
    """at most so many problems per benchmark (0: all)."""
    out: Path = Path("evaluation")
    """the folder to add results to, which `compass report` makes a page of."""
    seed: int = 0
    """of sampling and of the draw of problems."""


def find_models(
    given: Sequence[str], servers: Sequence[str], server_model: str, work: Path
) -> "dict[str, Model | Server]":
    """Name to model, in the order given.

    Args:
        given: a stage of the pipeline, a model folder, a .gguf file, a hub id with its commit, or a server's URL, each with or without `NAME=`.
        servers: further servers' URLs.
        server_model: which of a server's models.
        work: a folder for what is made of GGUF files.

    Raises:
        UserError: one is no model, or two have the same name.
    """
    from compass.sampling.server import find_server

    found: dict[str, Model | Server] = {}
    for text in [*given, *servers]:
        named, place = split_name(text)
        if place.startswith(("http://", "https://")):
            server = find_server(place, model=server_model, name=named)
            name, model = server.name, server
        else:
            name, model = _local(place, work)
        name = named or name
        if name in found:
            raise UserError(f"two models are called {name!r}; give one a name: NAME=MODEL")
        found[name] = model
    return found


def split_name(given: str) -> tuple[str, str]:
    """The name and what it names, of NAME=PLACE; the name is empty where none is given. A path that is there may have a `=` itself."""
    name, equals, place = given.partition("=")
    return (name, place) if equals and "://" not in name and not Path(given).exists() else ("", given)


def is_stage(place: str) -> bool:
    """Whether this names a model that a stage of the pipeline here has written."""
    return not Path(place).is_dir() and (Path("models") / place / "config.json").is_file()


def _local(place: str, work: Path) -> "tuple[str, Model]":
    """A stage's model, a folder, a GGUF file or a hub id with its commit, and what it is called."""
    from compass.sampling.model_source import find_model

    path = Path(place)
    if path.suffix == ".gguf":
        if not path.is_file():
            raise UserError(f"{place}: no such file")
        return path.stem, find_model(str(_unpacked(path, work / "models")))
    if path.is_dir():
        return path.resolve().name, find_model(place)
    if is_stage(place):
        return place, find_model(str(Path("models") / place))
    name, at, revision = place.partition("@")
    if "/" in name and at:
        return name, find_model(name, revision)
    stages = sorted(folder.parent.name for folder in Path("models").glob("*/config.json"))
    here = f"the stages that have run here ({', '.join(stages)})" if stages else "a stage (none has run here)"
    near = did_you_mean(place, stages)
    raise UserError(f"{place}: no model; {near}give {here}, a model folder, a .gguf file, OWNER/NAME@COMMIT, or a URL")


def _unpacked(file: Path, cache: Path) -> Path:
    """The model folder of a GGUF file, made once per content below `cache`."""
    import shutil

    from compass.base.resolve import resolve
    from compass.files import file_digest

    folder = cache / f"{file.stem}-{file_digest(file)[:16]}"
    if not folder.is_dir():
        made = folder.with_name(f".{folder.name}.part")
        shutil.rmtree(made, ignore_errors=True)
        made.parent.mkdir(parents=True, exist_ok=True)
        try:
            resolve(str(file), out=made, needs_template=False)
        except (ValueError, KeyError, OSError) as error:
            raise UserError(f"{file}: not a GGUF model that transformers reads ({error})") from error
        made.rename(folder)
    return folder
