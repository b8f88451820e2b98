"""Control sequences on their way through a multiplexer."""

from collections.abc import Mapping

_ESC = "\x1b"


def wrapped_for_tmux(sequence: str, environ: Mapping[str, str]) -> str:
    """As tmux hands it on to the terminal around it (where `allow-passthrough` is on)."""
    if not environ.get("TMUX"):
        return sequence
    doubled = sequence.replace(_ESC, 2 * _ESC)
    return f"{_ESC}Ptmux;{doubled}{_ESC}\\"
