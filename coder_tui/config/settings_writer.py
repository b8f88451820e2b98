"""Changes a settings file, without losing a word of what stands there."""

import json
import os
import stat
import tomllib
from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from coder_tui.config.paths import display_path
from coder_tui.config.private_file import OWNER_ONLY, write_private
from coder_tui.config.settings import load_settings
from coder_tui.config.settings_file import parse_settings
from coder_tui.config.sources import Sources
from coder_tui.protocol.errors import ConfigError

Change = Callable[[MutableMapping[str, Any]], None]
"""Done once to plain values, and once to a TOML document, which has tables of its own."""
_NAMES = ("config.toml", "config.json")


def settings_file_in(folder: Path) -> Path:
    """The one that is there, else the one to begin."""
    found = [folder / name for name in _NAMES if (folder / name).exists()]
    if len(found) > 1:
        raise ConfigError(
            f"{display_path(found[0])} and {display_path(found[1])} both exist; keep one of them"
        )
    return found[0] if found else folder / _NAMES[0]


def save_setting(path: Path, section: str, key: str, value: str) -> Path:
    """Set one value of the person's own file. Raises `ConfigError`, with nothing written. Blocks."""

    def change(document: MutableMapping[str, Any]) -> None:
        if section not in document:
            document[section] = tomlkit.table() if isinstance(document, tomlkit.TOMLDocument) else {}
        document[section][key] = value

    return rewrite_settings(path, change)


def rewrite_settings(path: Path, change: Change, mode: int = OWNER_ONLY) -> Path:
    """A new file gets `mode`. Raises `ConfigError`, with nothing written. Blocks."""
    real = Path(os.path.realpath(path))  # a file that is kept elsewhere and linked stays linked
    try:
        real.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        before = real.read_bytes() if real.exists() else None
        after = _changed(path, before or b"", change)
        if before is not None:
            mode = stat.S_IMODE(real.stat().st_mode)
        if (real.read_bytes() if real.exists() else None) != before:
            raise ConfigError(f"{display_path(path)} was changed meanwhile; nothing was written")
        write_private(real, after, mode)
    except OSError as error:
        raise ConfigError(f"cannot write {display_path(path)}: {error.strerror or error}") from error
    return path


def _changed(path: Path, before: bytes, change: Change) -> bytes:
    """Checked twice: the new text must be right, and say nothing else than was wanted."""
    old = parse_settings(path, before or (b"{}" if path.suffix == ".json" else b""))
    load_settings(Sources(file=old))
    wanted: dict[str, Any] = json.loads(json.dumps(old.values, default=str))
    change(wanted)
    if path.suffix == ".json":
        text = json.dumps(wanted, indent=2, ensure_ascii=False) + "\n"
    else:
        text = _changed_toml(path, old.text, change)
    new = parse_settings(path, text.encode())
    load_settings(Sources(file=new))
    if json.loads(json.dumps(new.values, default=str)) != wanted:
        raise ConfigError(f"{display_path(path)} could not be changed safely; do it by hand")
    return text.encode()


def _changed_toml(path: Path, text: str, change: Change) -> str:
    try:
        document = tomlkit.parse(text)
        change(document)
        changed = tomlkit.dumps(document)
        tomllib.loads(changed)
    except (TOMLKitError, ValueError) as error:
        raise ConfigError(
            f"{display_path(path)} could not be changed safely ({error}); do it by hand"
        ) from error
    return changed
