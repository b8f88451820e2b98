"""One model process for all tests: loading litellm takes seconds."""

from collections.abc import AsyncIterator

import pytest_asyncio

from coder_tui.llm.host_client import HostClient

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
