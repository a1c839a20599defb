"""What every section of a parameter file shares: strictness, and the types of its numbers."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

Probability = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[int, Field(ge=1)]
NotNegative = Annotated[int, Field(ge=0)]

_COMMIT = re.compile(r"[0-9a-f]{40}")
_FUNCTION = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


def check_function_name(value: str) -> str:
    """The value, if it names a function as `package.module:function`; else a `ValueError`."""
    if not _FUNCTION.fullmatch(value):
        raise ValueError("must be `package.module:function`, such as `rules.mine:function`")
    return value


FunctionName = Annotated[str, AfterValidator(check_function_name)]
"""A function of the user's, `package.module:function`."""


def is_commit(revision: str) -> bool:
    """Whether a revision of the hub names one commit, and not a branch or tag that can move."""
    return bool(_COMMIT.fullmatch(revision))


def check_commit(revision: str, hub: str = "OWNER/NAME") -> str:
    """The revision of a hub model, if it names one commit; else a `ValueError` that says how to find it."""
    if not is_commit(revision):
        raise ValueError(
            "must be a commit (40 hex digits), for a branch or tag can move; "
            f"`git ls-remote https://huggingface.co/{hub}` lists their commits"
        )
    return revision


Commit = Annotated[str, AfterValidator(lambda revision: revision and check_commit(revision))]
"""The commit of a hub model; empty where the model comes from elsewhere."""


class Section(BaseModel):
    """A section of `params.yaml`: no unknown key, no silent conversion, immutable once read."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
        validate_default=True,
    )
