"""Lists every setting with its value and where that came from, for `coder-tui config show`."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import BaseModel

from coder_tui.config.complaints import dotted
from coder_tui.config.project_settings import PERMISSION, project_layer
from coder_tui.config.settings import Settings
from coder_tui.config.settings_file import KeyPath
from coder_tui.config.sources import Sources, origin_of

_CREDENTIALS = re.compile(r"(?<=//)[^/@\s]+(?=@)")
_HANDED_OVER = ("env", "headers")
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASS|AUTH|CREDENTIAL|COOKIE", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SettingLine:
    """`value` is written as JSON would, credentials in addresses and what servers get as such left out."""

    key: str
    value: str
    origin: str


def describe(settings: Settings, sources: Sources) -> list[SettingLine]:
    lines = [
        SettingLine(
            dotted(path), '"…"' if _is_credential(path, value) else _shown(value), origin_of(sources, path)
        )
        for path, value in _leaves(settings, ())
    ]
    rules = project_layer(sources.project).rules if sources.project else ()
    return lines + [
        SettingLine(dotted((PERMISSION, rule.key, rule.pattern)), _shown(rule.effect), rule.source)
        for rule in rules
    ]


def _leaves(value: object, path: KeyPath) -> Iterator[tuple[KeyPath, object]]:
    match value:
        case BaseModel():
            for name in type(value).model_fields:
                yield from _leaves(getattr(value, name), (*path, name))
        case dict():
            for key, item in value.items():
                yield from _leaves(item, (*path, key))
        case _:
            yield path, value


def _is_credential(path: KeyPath, value: object) -> bool:
    """Told by the name, for a password looks like any word; `${NAME}` only says where it is."""
    is_handed_over = len(path) > 1 and path[-2] in _HANDED_OVER and _SECRET_NAME.search(str(path[-1]))
    return bool(is_handed_over) and "${" not in str(value)


def _shown(value: object) -> str:
    return _CREDENTIALS.sub("…", json.dumps(value, ensure_ascii=False, default=_as_written))


def _as_written(value: object) -> object:
    """A table of a list, such as a hook, without what nobody set."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_unset=True)
    raise TypeError(f"{type(value).__name__} is no setting")
