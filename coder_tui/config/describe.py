"""Lists every setting with its value and where that came from, for `coder-tui config show`."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import BaseModel

from coder_tui.config.complaints import dotted
from coder_tui.config.permission_rules import project_layer
from coder_tui.config.project_settings import PERMISSION
from coder_tui.config.settings import Settings
from coder_tui.config.sources import Sources, origin_of
from coder_tui.config.toml_lines import KeyPath

_CREDENTIALS = re.compile(r"(?<=//)[^/@\s]+(?=@)")


@dataclass(frozen=True, slots=True)
class SettingLine:
    """`value` is written as JSON would, credentials in addresses left out."""

    key: str
    value: str
    origin: str


def describe(settings: Settings, sources: Sources) -> list[SettingLine]:
    lines = [
        SettingLine(dotted(path), _shown(value), origin_of(sources, path))
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


def _shown(value: object) -> str:
    return _CREDENTIALS.sub("…", json.dumps(value, ensure_ascii=False))
