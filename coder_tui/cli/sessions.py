"""`coder-tui sessions`: lists, searches, shows, exports, renames, deletes and restores stored sessions."""

import argparse
import asyncio
import dataclasses
import os
import sys
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from coder_tui.agent.undo.replay import playback_steps
from coder_tui.cli.arguments import Parser, make_parser
from coder_tui.cli.output import print_error, print_json, print_line, redactor
from coder_tui.config.paths import display_path, find_directories
from coder_tui.config.sources import find_sources
from coder_tui.protocol.errors import StorageError, UsageError
from coder_tui.storage.drafts import DraftStore
from coder_tui.storage.export import to_jsonl, to_markdown
from coder_tui.storage.store import SessionInfo, Store, StoredSession, Trashed


async def export_pictures(stored: StoredSession, output: str, *, is_forced: bool) -> int:
    """Write the session as pictures, several if it is long. None is written if one of the files exists."""
    # These load Textual, which no other action needs.
    from coder_tui.cli.replay import launch_for
    from coder_tui.ui.replay import pictures

    target = Path(output or f"coder-tui-{stored.info.id}.svg")
    if not is_forced:
        _refuse(target)
    directories = find_directories(os.environ)
    launch = launch_for(stored, directories, find_sources(directories, Path.cwd(), os.environ, {}))
    pages = await pictures(dataclasses.replace(launch, has_motion=False), playback_steps(stored))
    paths = page_paths(target, len(pages))
    for path in paths if not is_forced else ():
        _refuse(path)
    for path, page in zip(paths, pages, strict=True):
        await asyncio.to_thread(_write, path, page, "w")
        print_line(f"Wrote {path}")
    return 0


def page_paths(target: Path, count: int) -> list[Path]:
    if count == 1:
        return [target]
    suffix = target.suffix or ".svg"
    return [target.with_name(f"{target.stem}-{number}{suffix}") for number in range(1, count + 1)]


def _refuse(path: Path) -> None:
    if os.path.lexists(path):
        raise UsageError(f"{path} already exists; choose another name or add --force")


ACTIONS = "list|search|show|export|rename|delete|restore|decisions"


def sessions_parser() -> Parser:
    parser = make_parser("sessions", "Manage stored sessions.")
    commands = parser.add_subparsers(dest="action", required=True, metavar=ACTIONS)
    listing = commands.add_parser("list", help="list the sessions of this folder, newest first")
    listing.switch("--all", "list the sessions of all folders")
    listing.switch("--deleted", "list deleted sessions that can be restored")
    _add_json(listing)
    search = commands.add_parser("search", help="find sessions that contain all of the words")
    search.add_argument("words", nargs="+", metavar="WORDS", help="words or beginnings of words")
    search.switch("--here", "search only sessions of this folder")
    _add_json(search)
    _add_id(commands.add_parser("show", help="print a session"))
    export = _add_id(commands.add_parser("export", help="export a session to a file or standard output"))
    export.add_argument(
        "--format", choices=("md", "jsonl", "svg"), default="md", help="the file format (default: md)"
    )
    export.add_argument("--output", "-o", metavar="FILE", help="the file to write (default: standard output)")
    export.switch("--force", "overwrite an existing file")
    rename = _add_id(commands.add_parser("rename", help="change a session's title"))
    rename.add_argument("title", nargs="+", metavar="TITLE", help="the new title")
    delete = _add_id(commands.add_parser("delete", help="delete a session; it can be restored for a while"))
    delete.switch("--for-good", "delete it permanently, at once")
    _add_id(commands.add_parser("restore", help="restore a deleted session"))
    _add_json(
        _add_id(
            commands.add_parser("decisions", help="show what was allowed, asked or denied, and by which rule")
        )
    )
    return parser


def _add_id(parser: Parser) -> Parser:
    parser.add_argument("id", metavar="ID", help="the session's id, or the beginning of it")
    return parser


def _add_json(parser: Parser) -> None:
    parser.switch("--json", "print JSON")


_LISTED = 200


def main(argv: list[str]) -> int:
    arguments = sessions_parser().parse_args(argv)
    actions: dict[str, Callable[[Store, argparse.Namespace], Awaitable[int]]] = {
        "list": _list,
        "search": _search,
        "show": _show,
        "export": _export,
        "rename": _rename,
        "delete": _delete,
        "restore": _restore,
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
    if arguments.deleted:
        return _list_deleted(await store.trash.list(folder, _LISTED), arguments)
    infos = await store.sessions.list(folder, _LISTED, only_used=True)
    none = "No sessions in this folder yet." if folder else "No sessions yet."
    return _print(arguments, map(_as_json, infos), [*map(_line, infos)] or [none])


def _print(arguments: argparse.Namespace, values: Iterable[object], lines: Iterable[str]) -> int:
    if arguments.json:
        print_json([*values], indent=2)
    else:
        for line in lines:
            print_line(line)
    return 0


def _list_deleted(found: tuple[Trashed, ...], arguments: argparse.Namespace) -> int:
    values = ({**_as_json(each.info), "deleted": each.when.isoformat()} for each in found)
    lines = [f"{_line(each.info)}  (deleted {each.when.astimezone():%Y-%m-%d %H:%M})" for each in found]
    end = "To restore one: coder-tui sessions restore ID" if found else "There are no deleted sessions."
    return _print(arguments, values, (*lines, end))


async def _search(store: Store, arguments: argparse.Namespace) -> int:
    words = " ".join(arguments.words)
    hits = await store.search.find(words, str(Path.cwd().resolve()) if arguments.here else None)
    values = ({**_as_json(hit.info), "excerpt": hit.excerpt, "passages": hit.count} for hit in hits)
    lines = [
        f"{_line(hit.info)}\n    {display_path(Path(hit.info.directory))}: {hit.excerpt}" for hit in hits
    ]
    return _print(arguments, values, lines or [f"No session contains {words}."])


def _line(info: SessionInfo) -> str:
    when = info.updated.astimezone().strftime("%Y-%m-%d %H:%M")
    cost = f"${info.cost:.2f}" if info.cost is not None else ""
    count = f"{info.message_count:>4} message{'' if info.message_count == 1 else 's'}"
    return f"{info.id}  {when}  {count:<13}  {cost:>8}  {info.title or '(untitled)'}"


def _as_json(info: SessionInfo) -> dict[str, object]:
    times = {"created": info.created.isoformat(), "updated": info.updated.isoformat()}
    return {**dataclasses.asdict(info), **times}


async def _show(store: Store, arguments: argparse.Namespace) -> int:
    print_line(to_markdown(await _loaded(store, arguments.id), redactor()))
    return 0


async def _loaded(store: Store, session_id: str) -> StoredSession:
    stored = await store.load((await store.sessions.get(session_id)).id)
    if stored.damage:
        print_error(f"coder-tui: {stored.damage}")
    return stored


async def _export(store: Store, arguments: argparse.Namespace) -> int:
    stored = await _loaded(store, arguments.id)
    if arguments.format == "svg":
        return await export_pictures(stored, arguments.output or "", is_forced=arguments.force)
    text = to_markdown(stored, redactor()) if arguments.format == "md" else to_jsonl(stored, redactor())
    if not arguments.output:
        sys.stdout.write(text)
        return 0
    mode = "w" if arguments.force else "x"
    await asyncio.to_thread(_write, Path(arguments.output), text, mode)
    print_line(f"Wrote {arguments.output}")
    return 0


async def _rename(store: Store, arguments: argparse.Namespace) -> int:
    info = await store.sessions.get(arguments.id)
    title = " ".join(" ".join(arguments.title).split())
    if not title:
        raise UsageError("the title is empty")
    await store.sessions.rename(info.id, title)
    print_line(f"Renamed {info.id} to “{title}”.")
    return 0


async def _delete(store: Store, arguments: argparse.Namespace) -> int:
    if arguments.for_good:
        info = await _wherever(store, arguments.id)
        await store.sessions.delete(info.id)
        DraftStore(find_directories(os.environ).unsent).forget(info.id)
        print_line(f"Permanently deleted {info.id} “{info.title or '(untitled)'}”.")
        return 0
    info = await store.sessions.get(arguments.id)
    await store.trash.discard(info.id)
    print_line(f"Deleted {info.id} “{info.title or '(untitled)'}”.")
    print_line(f"To restore it: coder-tui sessions restore {info.id}")
    print_line("Deleted sessions are kept for 30 days, or as long as undo.keep_days says.")
    return 0


async def _wherever(store: Store, session_id: str) -> SessionInfo:
    """Find a session, also in the trash: secrets may have to be removed from there, too."""
    try:
        return await store.sessions.get(session_id)
    except StorageError:
        found = [
            each.info for each in await store.trash.list() if each.info.id.startswith(session_id.lower())
        ]
        if len(found) != 1:
            raise
        return found[0]


async def _restore(store: Store, arguments: argparse.Namespace) -> int:
    info = await store.trash.restore(arguments.id)
    print_line(f"Restored {info.id} “{info.title or '(untitled)'}”.")
    return 0


async def _decisions(store: Store, arguments: argparse.Namespace) -> int:
    info = await store.sessions.get(arguments.id)
    stored = await store.load(info.id)
    summaries = {call_id: call.summary for call_id, call in stored.calls.items()}
    rows = [
        {**dataclasses.asdict(decision), "summary": summaries.get(decision.call_id, "")}
        for decision in await store.decisions.list(info.id)
    ]
    lines = []
    for row in rows:
        answer = f", your answer: {row['answer']}" if row["answer"] else ""
        lines.append(f"{row['effect']:<5}  {row['tool']}  {row['summary']}{answer}")
        lines.append(f"       rule: {row['rule']}, from {row['source']}")
    return _print(arguments, rows, lines or ["No decisions in this session yet."])


def _write(path: Path, text: str, mode: str) -> None:
    try:
        with path.open(mode, encoding="utf-8", errors="replace") as file:
            file.write(text)
    except FileExistsError as error:
        raise UsageError(f"{path} already exists; choose another name or add --force") from error
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
