"""What a child process gets to see of our environment: nothing that looks like a secret."""

import re
from collections.abc import Mapping

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL", re.IGNORECASE)
# Shells run these files before the command that was approved.
_START_FILES = frozenset({"BASH_ENV", "ENV"})


def is_secret_name(name: str) -> bool:
    return _SECRET.search(name) is not None


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return a copy without secrets, and without what makes a shell run something first."""
    return {
        name: value
        for name, value in environment.items()
        if not is_secret_name(name) and name not in _START_FILES and not name.startswith("BASH_FUNC_")
    }
