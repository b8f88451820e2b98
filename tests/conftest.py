"""One model process for all tests: loading litellm takes seconds."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from coder_tui.llm.host_client import HostClient
from tests.fakes.ready_program import own_hosts, ready_hosts

ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "OPENAI_API_KEY": "sk-test-0123456789abcdef",
    "ANTHROPIC_API_KEY": "sk-ant-test-0123456789abcdef",
    "XAI_API_KEY": "a-key-without-any-shape",
}


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_host() -> AsyncIterator[HostClient]:
    """A warm host; tests that use it run on the session's loop (`loop_scope="session"`)."""
    client = HostClient(idle_timeout=10.0, environment=ENVIRONMENT)
    await client.warm()
    yield client
    await client.close()


@pytest.fixture(scope="session", name="ready_hosts")
def hosts_that_are_ready() -> Iterator[None]:
    """The programs that tests start need not load litellm."""
    with ready_hosts():
        yield


@pytest.fixture(name="own_hosts")
def hosts_of_ones_own(ready_hosts: None) -> Iterator[None]:
    """The programs of a test do load litellm: it is about their model process, or about everything."""
    with own_hosts():
        yield
