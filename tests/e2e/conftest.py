"""Model processes for the programs that tests start: a dozen tests have them load litellm, the rest not."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def model_processes(ready_hosts: None) -> None:
    """They are ready before the first test asks for one."""
