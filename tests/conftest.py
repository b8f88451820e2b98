"""What makes the tests quick: one model process for all of them, and an order in which no core is idle."""

import gc
import os
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path
from random import Random

import pytest
import pytest_asyncio
from hypothesis import settings
from hypothesis.internal.conjecture import providers

from coder_tui.llm.host_client import HostClient
from tests.fakes.needs import skip_without
from tests.fakes.ready_python import FOLDER, ready_processes, use_ready_python

ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "OPENAI_API_KEY": "sk-test-0123456789abcdef",
    "ANTHROPIC_API_KEY": "sk-ant-test-0123456789abcdef",
    "GEMINI_API_KEY": "gemini-test-0123456789abcdef",
    "XAI_API_KEY": "a-key-without-any-shape",
}

# Files of few tests that take long, most of them because they wait for programs and terminals.
_LONG_FOLDERS = frozenset(("e2e", "serve", "acp"))
_LONG_FILES = frozenset(
    f"test_{name}.py"
    for name in (
        *("kill_writes", "long_session", "host_life", "real_servers", "reference_servers"),
        *("browsing", "guard_properties", "approval_sizes"),
    )
)
# The end of a run is for short files, so that all workers come to it together.
_LAST_LONG = 0.85


# The same examples in every run, none fails for being slow. `--hypothesis-profile=search` looks for others.
settings.register_profile("fixed", deadline=None, derandomize=True, database=None)
settings.register_profile("search", deadline=None, max_examples=5000)
settings.load_profile("fixed")
# It reads all of our modules for constants to try, which takes each worker seconds.
vars(providers)["_get_local_constants"] = lambda: providers._local_constants


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run the files in a random order")


def pytest_configure(config: pytest.Config) -> None:
    """Offer the ready processes, once for all workers."""
    if FOLDER not in os.environ:
        ready = ExitStack()
        ready.enter_context(ready_processes())
        config.add_cleanup(ready.close)
    use_ready_python()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose programs are missing."""
    for mark in item.iter_markers("needs"):
        for name in mark.args:
            skip_without(name)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Spread the long files evenly among the others, so that no core is idle while tests wait."""
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    ordered = sorted(files.items(), key=lambda file: len(file[1]), reverse=True)
    long = [path for path, _ in ordered if _LONG_FOLDERS & {*path.parts} or path.name in _LONG_FILES]
    places = {path: number / len(long) * _LAST_LONG for number, path in enumerate(long)}
    done = 0
    for path, tests in ordered:
        places.setdefault(path, done / len(items))
        done += len(tests)
    if (seed := config.getoption("--shuffle")) is not None:
        chance = Random(seed)
        places = {path: chance.random() for path in sorted(files)}
    items[:] = [item for path in sorted(files, key=places.__getitem__) for item in files[path]]


def pytest_sessionfinish() -> None:
    """Leave nothing to look through: pytest collects garbage twice at the end, which takes seconds."""
    gc.freeze()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_host() -> AsyncIterator[HostClient]:
    """A warm host; tests that use it run on the session's loop (`loop_scope="session"`)."""
    client = HostClient(idle_timeout=10.0, environment=ENVIRONMENT)
    await client.warm()
    yield client
    await client.close()
