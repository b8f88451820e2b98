"""Which files with secrets a repository keeps: comparing versions or searching them would show those."""

from collections.abc import Iterator
from pathlib import Path

from coder_tui.policy.secrets import is_secret

MOST_BYTES = 20_000_000
_HEAD, _STATS, _FLAGS = 12, 40, 2
_HASHES = (20, 32)
_EXTENDED = 0x4000
_SPLIT = b"link"


def tracked_secrets(directory: str) -> tuple[str, ...] | None:
    """Absolute paths of them, in the repository that holds `directory`; None where that cannot be told."""
    for folder in (Path(directory), *Path(directory).parents):
        try:
            marker = folder / ".git"
            if marker.is_dir():
                return _secrets(marker / "index", folder)
            if marker.is_file():
                named = marker.read_text(errors="replace")[:4_000].removeprefix("gitdir:").strip()
                return _secrets(Path(folder, named) / "index", folder)
        except (OSError, ValueError):
            return None
    return ()


def _secrets(index: Path, top: Path) -> tuple[str, ...] | None:
    if not index.exists():
        return ()
    if index.stat().st_size > MOST_BYTES:
        return None
    content = index.read_bytes()
    for hash_size in _HASHES:
        try:
            names = list(_names(content, hash_size))
        except (ValueError, IndexError):
            continue
        paths = (name.decode(errors="surrogateescape") for name in names)
        return tuple(f"{top}/{path}" for path in paths if is_secret(path))
    return None


def _names(content: bytes, hash_size: int) -> Iterator[bytes]:
    """The entries' names; `ValueError` or `IndexError` where this is not an index of such hashes."""
    version, count = int.from_bytes(content[4:8]), int.from_bytes(content[8:12])
    if content[:4] != b"DIRC" or not 2 <= version <= 4:
        raise ValueError("not an index")
    position, name = _HEAD, b""
    for _ in range(count):
        start = position
        flags = int.from_bytes(content[start + _STATS + hash_size : start + _STATS + hash_size + _FLAGS])
        position += _STATS + hash_size + _FLAGS + (_FLAGS if flags & _EXTENDED else 0)
        shared = 0
        if version == 4:
            dropped, position = _offset(content, position)
            shared = len(name) - dropped
        end = content.index(b"\0", position)
        name = name[:shared] + content[position:end]
        length = flags & 0xFFF
        if length not in {len(name), 0xFFF} or shared < 0:
            raise ValueError("the lengths do not agree")
        position = end + 1 if version == 4 else start + (end - start + 8) // 8 * 8
        yield name
    if content[position : position + 4] == _SPLIT:
        raise ValueError("the rest is kept elsewhere")


def _offset(content: bytes, position: int) -> tuple[int, int]:
    """A number in as many bytes as it takes, as git writes it."""
    byte = content[position]
    value = byte & 0x7F
    while byte & 0x80:
        position += 1
        byte = content[position]
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value, position + 1
