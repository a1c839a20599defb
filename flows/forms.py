"""The form that Prefect's pages draw for a stage: its settings by name, with type, range and docstring, filled in.

A form holds the values that are in force when it is made. Only values that differ from those in force become overrides of
the run, and its name says them: a page that was left open while `params.yaml` changed brings back the values that it
shows. Settings that no form can draw (lists of sources, mappings) are given by name in the field beside it.
"""

from __future__ import annotations

import types
from typing import Annotated, Any, Union, get_args, get_origin

import annotated_types
from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.fields import FieldInfo

from compass.settings import Settings
from compass.settings.section import Section


class Form(BaseModel):
    """What every form shares: a key that the stage does not have is refused."""

    model_config = ConfigDict(extra="forbid", protected_namespaces=())


def prefix(stage: str, settings: Settings) -> str:
    """Where the settings of a stage are in `params.yaml`: `denoise`, or `rl.stages.rl-1`."""
    return f"rl.stages.{stage}" if stage in settings.rl.stages else stage


def collect_overrides(form: Form, prefix: str) -> dict[str, Any]:
    """What a form that came back has other than the settings in force, by their name in `params.yaml`.

    Args:
        form: as `build_form` made it of them.
        prefix: the section's place in `params.yaml`.

    Returns:
        `{"denoise.min_problem_chars": 20}`.
    """
    changed: dict[str, Any] = {}
    for name, field in type(form).model_fields.items():
        if name not in form.model_fields_set:
            continue
        value = getattr(form, name)
        if isinstance(value, Form):
            changed |= collect_overrides(value, f"{prefix}.{name}")
        elif (plain := _to_json(value)) != _to_json(field.default):
            changed[f"{prefix}.{name}"] = plain
    return changed


def build_form(section: Section, title: str) -> type[Form]:
    """The form of a section, filled with its values."""
    fields: dict[str, Any] = {}
    for name, info in type(section).model_fields.items():
        value = getattr(section, name)
        if isinstance(value, Section):
            inner = build_form(value, name)
            text = _split_words(type(value).__doc__)
            fields[name] = (inner, Field(default=inner(), title=name, description=text, validate_default=False))
        elif _can_draw(info.annotation):
            kind = Annotated[(info.annotation, *info.metadata)] if info.metadata else info.annotation
            fields[name] = (kind, Field(default=value, title=name, description=_describe_setting(info)))
    # Single values first: what a stage has of its own would be lost below its long sections.
    fields = dict(sorted(fields.items(), key=lambda item: isinstance(getattr(section, item[0]), Section)))
    made: type[Form] = create_model(title, __base__=Form, **fields)
    made.__doc__ = _split_words(type(section).__doc__)
    return made


def _can_draw(annotation: Any) -> bool:
    """Whether a form can draw a type: numbers, texts, choices, switches, and lists of these."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _can_draw(inner[0])
    if origin in (Union, types.UnionType, list):
        return all(_can_draw(kind) for kind in inner if kind is not type(None))
    if origin in (dict, tuple) or annotation in (dict, tuple, Any):
        return False
    return not (isinstance(annotation, type) and issubclass(annotation, Section))


def _describe_setting(info: FieldInfo) -> str:
    """A setting's docstring and its range, which the pages check but do not show."""
    bounds = ", ".join(filter(None, map(_bound, info.metadata)))
    return f"{_split_words(info.description)} ({bounds})" if bounds else _split_words(info.description)


def _bound(limit: Any) -> str:
    match limit:
        case annotated_types.Ge(ge=bound):
            return f"at least {bound}"
        case annotated_types.Gt(gt=bound):
            return f"more than {bound}"
        case annotated_types.Le(le=bound):
            return f"at most {bound}"
        case annotated_types.Lt(lt=bound):
            return f"less than {bound}"
        case annotated_types.MultipleOf(multiple_of=step):
            return f"a multiple of {step}"
    return ""


def _split_words(text: str | None) -> str:
    return " ".join((text or "").split())


def _to_json(value: Any) -> Any:
    """A value as JSON has it, so that what came back from a page compares with what was shown."""
    return [_to_json(item) for item in value] if isinstance(value, list | tuple) else value
