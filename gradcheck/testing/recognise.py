"""Which YAML files pytest is to take for specs: somebody's project is full of others.

The setting `gradcheck_specs` names files and folders, and then exactly what lies there is a spec:
one that is not is an error. Without it a file counts if it, or a folder above it, was named on the
command line, and if it looks like a spec. A run of plain `pytest` looks into no YAML file at all.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable

SETTING = "gradcheck_specs"

_READ = 2**16
"""Bytes by which a file is judged: who writes a longer comment above a spec names its folder."""
_COMMENT = re.compile(r"(?m)(?:^|\s)#.*$")
_KEY = re.compile(r"""(?m)(?:^|[\s{,\[-])["']?([A-Za-z_]\w*)["']?[ ]*:(?=\s|$)""")
_KEY_AT_THE_TOP = re.compile(r"""(?m)^["']?([A-Za-z_]\w*)["']?[ ]*:(?=\s|$)""")
_TARGETS = frozenset({"op", "expr", "function", "layer"})
"""`TARGETS` of the spec format, which takes a tenth of a second to import: most files have none."""
_CLOSE = 0.7
"""How alike two keys are of which one may be a slip: `sede` is 0.75, `attrs` for `args` 0.67."""
_PASSED_BY = pytest.StashKey[dict[Path, list[str]]]()


def is_spec(path: Path, config: pytest.Config) -> bool:
    """Whether pytest is to collect this file; its name ends like that of a YAML file."""
    wanted: list[Path] = config.getini(SETTING)
    if wanted:
        below = any(path.is_relative_to(_absolute(place)) for place in wanted)
        return below and path.name[0] != "."
    named = _named(config)
    if path in named:
        return has_targets(_text(path))
    if path.name[0] == "." or not any(path.is_relative_to(folder) for folder in named):
        return False
    strange = strange_keys(_text(path))
    if strange:
        config.stash.setdefault(_PASSED_BY, {})[path] = strange
    return strange == []


def passed_by(config: pytest.Config) -> list[str]:
    """A line for each file that is nearly a spec: none is left out in silence."""
    return [
        f"gradcheck: {_shown(path)} is not taken for a spec, for no spec has "
        f"{', '.join(f'`{key}`' for key in strange)}: name the file to see what is wrong"
        for path, strange in config.stash.get(_PASSED_BY, {}).items()
    ]


def must_exist(config: pytest.Config) -> None:
    """A place in the settings that is not there would be a run in which nothing is looked at."""
    for place in config.getini(SETTING):
        if not place.exists():
            told = "there is no such file or folder"
            raise pytest.UsageError(f"{SETTING}: {_shown(place)}: {told}")


def has_targets(text: str) -> bool:
    """Whether a file that was named by itself may be meant for us: what is wrong in it is told."""
    return bool((_TARGETS | {"cases"}) & _keys(text))


def strange_keys(text: str) -> list[str] | None:
    """Of what may be a spec, having a target and inputs, the keys at the top that no spec has.

    None for what is not one at all. A slip in a key makes no other kind of file: what is nearly a
    key counts as one.
    """
    keys = _keys(text)
    if not keys & _TARGETS or not any(_nearly(key, ["inputs"]) for key in keys):
        return None
    from gradcheck.spec.format.keys import CASE_KEYS

    at_the_top = _KEY_AT_THE_TOP.findall(_COMMENT.sub("", text))
    if not at_the_top:
        return None
    return [key for key in at_the_top if not _nearly(key, [*CASE_KEYS, "cases"])]


def _keys(text: str) -> set[str]:
    return set(_KEY.findall(_COMMENT.sub("", text)))


def _nearly(key: str, known: Iterable[str]) -> bool:
    from gradcheck.errors import nearest

    return bool(nearest(key, known, alike=_CLOSE))


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_READ).decode("utf-8", "replace")
    except OSError:
        return ""


def _shown(path: Path) -> str:
    """The path as a message has it, whatever characters are in it."""
    from gradcheck.report.safe_text import one_line

    return one_line(os.path.relpath(path))


def _named(config: pytest.Config) -> list[Path]:
    """The files and folders of the command line; none where pytest found out by itself."""
    if config.args_source is not config.ArgsSource.ARGS:
        return []
    here = config.invocation_params.dir
    return [_absolute(here / argument.partition("::")[0]) for argument in config.args]


def _absolute(path: Path) -> Path:
    """Without `..`; links are left alone, as pytest does."""
    return Path(os.path.abspath(path))  # noqa: PTH100  (pathlib's own would follow links)
