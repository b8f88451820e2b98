"""The log gets the records of the program and its event loop, without secrets."""

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from coder_tui.config.own_files import start_log
from coder_tui.text.redact import MASK, Redactor

KEY = "sk-ant-abcdefgh0123456789"


@pytest.fixture
def log_path(tmp_path: Path) -> Iterator[Path]:
    names = ("coder_tui", "asyncio")
    before = {name: (logging.getLogger(name).propagate, logging.getLogger(name).level) for name in names}
    yield start_log(tmp_path, Redactor({"A_SECRET": "known 99"}))
    for name, (propagates, level) in before.items():
        logger = logging.getLogger(name)
        for handler in tuple(logger.handlers):
            logger.removeHandler(handler)
            handler.close()
        logger.propagate = propagates
        logger.setLevel(level)


def fail() -> None:
    raise RuntimeError(f"the server said {KEY} and known 99")


def test_messages_and_tracebacks_contain_no_secret(log_path: Path) -> None:
    log = logging.getLogger("coder_tui.somewhere")
    log.warning("for %s", KEY)
    try:
        fail()
    except RuntimeError:
        log.exception("it failed")
    text = log_path.read_text()
    assert (KEY in text, "known 99" in text) == (False, False)
    assert f"WARNING coder_tui.somewhere: for {MASK}\n" in text
    assert f"RuntimeError: the server said {MASK} and {MASK}" in text


async def test_a_failed_task_that_nothing_awaits_is_in_the_log(
    log_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        fail()
    except RuntimeError as error:
        asyncio.get_running_loop().call_exception_handler({"message": "lost", "exception": error})
    text = await asyncio.to_thread(log_path.read_text)
    assert f"RuntimeError: the server said {MASK} and {MASK}" in text
    assert capsys.readouterr().err == ""
