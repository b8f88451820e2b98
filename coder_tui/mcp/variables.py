"""Fills the variables of the environment into a server's settings."""

import re
from collections.abc import Mapping

_PLACE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


class UnsetVariableError(Exception):
    """A setting needs a variable that is not there."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"the variable {name} is not set; set it, or write ${{{name}:-what to take instead}}"
        )
        self.name = name


def filled(text: str, environ: Mapping[str, str]) -> str:
    """`UnsetVariableError` where a variable without a word to take instead is missing."""

    def value(found: re.Match[str]) -> str:
        name, instead = found[1], found[2]
        # As in a shell, an empty one counts as unset where there is a word for that.
        if environ.get(name) or (instead is None and name in environ):
            return environ[name]
        if instead is None:
            raise UnsetVariableError(name)
        return instead

    return _PLACE.sub(value, text)
