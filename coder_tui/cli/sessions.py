"""`coder-tui sessions`: list, show and export what is stored, and what was decided."""

import argparse
import asyncio
import dataclasses
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from coder_tui.cli.arguments import sessions_parser
from coder_tui.cli.output import redactor, say, say_json
from coder_tui.config.paths import find_directories
from coder_tui.protocol.errors import UsageError
from coder_tui.storage.export import to_jsonl, to_markdown
from coder_tui.storage.sessions import SessionInfo, Store

_LISTED = 200


def main(argv: list[str]) -> int:
    arguments = sessions_parser().parse_args(argv)
    actions: dict[str, Callable[[Store, argparse.Namespace], Awaitable[int]]] = {
        "list": _list,
        "show": _show,
        "export": _export,
        "decisions": _decisions,
    }
    return asyncio.run(_with_store(actions[arguments.action], arguments))


async def _with_store(
    action: Callable[[Store, argparse.Namespace], Awaitable[int]], arguments: argparse.Namespace
) -> int:
    directories = find_directories(os.environ)
    directories.ensure()
    store = await Store.open(directories.database, redactor())
    try:
        return await action(store, arguments)
    finally:
        await store.close()


async def _list(store: Store, arguments: argparse.Namespace) -> int:
    folder = None if arguments.all else str(Path.cwd().resolve())
    infos = await store.list_sessions(folder, _LISTED)
    if arguments.json:
        say_json([_as_json(info) for info in infos], indent=2)
        return 0
    for info in infos:
        say(_line(info))
    if not infos:
        say("No sessions here yet." if folder else "No sessions yet.")
    return 0


def _line(info: SessionInfo) -> str:
    when = info.updated.astimezone().strftime("%Y-%m-%d %H:%M")
    cost = f"${info.cost:.2f}" if info.cost is not None else ""
    count = f"{info.message_count:>4} message{'' if info.message_count == 1 else 's'}"
    return f"{info.id}  {when}  {count:<13}  {cost:>8}  {info.title or '(untitled)'}"


def _as_json(info: SessionInfo) -> dict[str, object]:
    times = {"created": info.created.isoformat(), "updated": info.updated.isoformat()}
    return {**dataclasses.asdict(info), **times}


async def _show(store: Store, arguments: argparse.Namespace) -> int:
    info = await store.get(arguments.id)
    say(to_markdown(await store.load(info.id), redactor()))
    return 0


async def _export(store: Store, arguments: argparse.Namespace) -> int:
    info = await store.get(arguments.id)
    stored = await store.load(info.id)
    text = to_markdown(stored, redactor()) if arguments.format == "md" else to_jsonl(stored, redactor())
    if not arguments.output:
        sys.stdout.write(text)
        return 0
    await asyncio.to_thread(_write_new, Path(arguments.output), text)
    say(f"Wrote {arguments.output}")
    return 0


async def _decisions(store: Store, arguments: argparse.Namespace) -> int:
    info = await store.get(arguments.id)
    stored = await store.load(info.id)
    summaries = {call_id: call.summary for call_id, call in stored.calls.items()}
    rows = [
        {**dataclasses.asdict(decision), "summary": summaries.get(decision.call_id, "")}
        for decision in await store.decisions(info.id)
    ]
    if arguments.json:
        say_json(rows, indent=2)
        return 0
    for row in rows:
        answer = f", you said {row['answer']}" if row["answer"] else ""
        say(f"{row['effect']:<5}  {row['tool']}  {row['summary']}{answer}")
        say(f"       rule: {row['rule']}, from {row['source']}")
    if not rows:
        say("Nothing was decided in this session yet.")
    return 0


def _write_new(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise UsageError(f"{path} exists already; choose another name") from error
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
