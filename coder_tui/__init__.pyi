"""What a type checker sees of the package: the module itself loads `Session` only when it is asked for."""

from coder_tui.api import Session as Session

__version__: str
