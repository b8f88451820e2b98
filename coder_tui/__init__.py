"""A coding agent for the terminal."""

__version__ = "0.2.0"


def __getattr__(name: str) -> object:
    """`Session` is for programs; the screen and the command line must not pay for it."""
    if name == "Session":
        from importlib import import_module

        return import_module("coder_tui.api").Session
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
