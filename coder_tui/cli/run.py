"""`coder-tui run`: runs one prompt without a screen.

It reads the prompt and the flags, ends the turn on SIGINT, SIGTERM or SIGHUP, and
chooses the exit code then.
"""

import argparse
import asyncio
import signal
import sys
from collections.abc import Callable
from dataclasses import replace

from coder_tui.bootstrap.invocation import Invocation
from coder_tui.bootstrap.open_session import (
    NO_MODEL,
    build_client,
    choose_model,
    model_keys,
    open_core,
    open_session,
    prepare,
    start_warnings,
)
from coder_tui.bootstrap.undo import start_pruning
from coder_tui.cli.arguments import read_invocation, run_parser
from coder_tui.cli.output import print_error, print_json, print_line, redactor
from coder_tui.headless import HeadlessRun, JsonPrinter, Printer, StreamPrinter, TextPrinter
from coder_tui.protocol.errors import UsageError, UserError

TERMINATED = 143


def main(argv: list[str]) -> int:
    arguments = run_parser().parse_args(argv)
    invocation = read_invocation(arguments, arguments.directory)
    prompt = _prompt(arguments)
    return asyncio.run(_run(invocation, prompt, _printer(arguments.format)))


def _prompt(arguments: argparse.Namespace) -> str:
    text = arguments.prompt
    if text is None:
        if sys.stdin.isatty():
            raise UsageError("no prompt; pass one with -p TEXT or on standard input")
        text = sys.stdin.buffer.read().decode("utf-8", errors="replace")
    if not text.strip():
        raise UsageError("the prompt is empty; pass one with -p TEXT or on standard input")
    return str(text)


def _printer(output: str) -> Printer:
    match output:
        case "stream-json":
            return StreamPrinter(print_json, redactor())
        case "json":
            return JsonPrinter(print_json)
        case _:
            return TextPrinter(print_line, print_error)


async def _run(invocation: Invocation, prompt: str, printer: Printer) -> int:
    setup = replace(prepare(invocation), is_for_one_prompt=True)
    for warning in start_warnings(setup):
        print_error(f"coder-tui: {warning}")
    keys = model_keys(setup)
    choice = await choose_model(setup.settings, keys)
    for warning in keys.warnings:
        print_error(f"coder-tui: {warning}")
    if choice is None:
        raise UserError(NO_MODEL)
    core = await open_core(setup, choice, build_client(setup, choice, keys))
    try:
        session = await open_session(core, invocation)
        start_pruning(core.setup, session)
        terminated = _stop_on_signals(session.interrupt)
        result = await HeadlessRun(session, printer).run(prompt)
        await session.close()
    finally:
        await core.close()
    return TERMINATED if terminated.is_set() else int(result.exit_code)


def _stop_on_signals(interrupt: Callable[[], bool]) -> asyncio.Event:
    """End the turn on signals; the result is still printed. SIGTERM and SIGHUP set the returned event."""
    terminated = asyncio.Event()

    def terminate() -> None:
        terminated.set()
        interrupt()

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, interrupt)
    loop.add_signal_handler(signal.SIGTERM, terminate)
    loop.add_signal_handler(signal.SIGHUP, terminate)
    return terminated
