"""One folder's entries, as a person who works there would want them listed."""

import os
from dataclasses import dataclass

from coder_tui.policy.paths import is_secret
from coder_tui.workspace.files.confine import Located, explain, open_listing
from coder_tui.workspace.search.ignore import IgnoreChain


@dataclass(frozen=True, slots=True)
class Entry:
    name: str
    path: str
    is_dir: bool
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Listing:
    entries: tuple[Entry, ...]
    truncated: bool


def list_folder(located: Located, most: int) -> Listing:
    """List a folder by name, without what git ignores, `.git` itself and secrets."""
    folder = open_listing(located)
    try:
        with os.scandir(folder) as scanned:
            found = sorted(scanned, key=lambda entry: os.fsencode(entry.name))
        chain = IgnoreChain.for_folder(located.path)
        kept = [entry for entry in found if _may_show(located, entry, chain)]
        return Listing(tuple(_entry(located, entry) for entry in kept[:most]), len(kept) > most)
    except OSError as error:
        raise explain(error, located) from error
    finally:
        os.close(folder)


def _may_show(located: Located, entry: "os.DirEntry[str]", chain: IgnoreChain) -> bool:
    if entry.name == ".git" or chain.ignores(entry.name, is_folder=entry.is_dir(follow_symlinks=False)):
        return False
    return not is_secret(located.path / entry.name)


def _entry(located: Located, entry: "os.DirEntry[str]") -> Entry:
    name = os.fsencode(entry.name).decode("utf-8", "replace")
    is_dir = _is_folder(entry)
    shown = name if located.shown == "." else f"{located.shown.rstrip('/')}/{name}"
    return Entry(name, shown, is_dir, 0 if is_dir else _size(entry))


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        # A link in a circle, or to where one may not look.
        return False


def _size(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except FileNotFoundError:
        # Removed since the folder was scanned.
        return 0
