"""A function of the user's that a setting or an option names as `package.module:function`: found, imported and checked."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from compass.errors import UserError, did_you_mean

MakeError = Callable[[str, str], UserError]
"""Makes the error to raise, of what was found and what to do; the caller adds the setting's name."""

_PLACE = "put the file where Python finds it, such as `{folder}/mine.py` in the current folder, and name it `{folder}.mine:function`"


def source_file(name: str, error: MakeError, folder: str = "mine") -> Path:
    """The file of the module in `module:function`, found by importing no more than the packages that hold it.

    Modules are looked for in the current folder last, as `python -m` looks there first.

    Args:
        name: `package.module:function`.
        error: makes the error to raise.
        folder: for the remedy: a folder where such files may be.

    Raises:
        UserError: there is no such module.
    """
    module = name.partition(":")[0]
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)
        importlib.invalidate_caches()
    try:
        found = importlib.util.find_spec(module)
    except Exception as raised:  # whatever a package of the user's raises
        raise error(f"the module {module} cannot be imported ({raised})", _PLACE.format(folder=folder)) from raised
    if found is None or not found.has_location or found.origin is None:
        raise error(f"there is no module {module}", _PLACE.format(folder=folder))
    return Path(found.origin)


def load_function(
    name: str,
    error: MakeError,
    signature: str,
    arguments: tuple[str, ...],
    *,
    by_name: bool = False,
    folder: str = "mine",
) -> Callable[..., Any]:
    """Import the function and look at its arguments.

    Args:
        name: `package.module:function`.
        error: makes the error to raise.
        signature: for the remedy: how the function is defined.
        arguments: what it is called with.
        by_name: whether it is called with these as keywords; else in this order.
        folder: as in `source_file`.

    Raises:
        UserError: it cannot be imported, is not a plain function, or does not take the arguments.
    """
    module, _, function = name.partition(":")
    source_file(name, error, folder)
    try:
        found = getattr(importlib.import_module(module), function, None)
    except Exception as raised:  # whatever a user's module raises at its top
        raise error(f"importing it raised {type(raised).__name__}: {raised}", "fix the module") from raised
    if not callable(found) or inspect.iscoroutinefunction(found):
        file = Path(sys.modules[module].__file__ or module).name
        if callable(found):
            raise error(f"{function} is async", signature)
        known = [one for one, value in vars(sys.modules[module]).items() if inspect.isfunction(value)]
        raise error(f"{file} has no function {function}", f"{did_you_mean(function, known).lstrip()}{signature}")
    try:
        called = inspect.signature(found)
    except ValueError:  # written in C: what it takes is not known
        return found
    try:
        called.bind(**dict.fromkeys(arguments)) if by_name else called.bind(*arguments)
    except TypeError as raised:
        raise error(f"its arguments are not those it is called with ({raised})", signature) from raised
    return found
