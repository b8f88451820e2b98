"""`coder-tui sessions`: what is stored is listed, searched, shown, renamed, deleted and brought back.

`coder-tui sessions export --format svg`: a stored session as pictures.

What can be said behind `coder-tui sessions`.
"""

import argparse
import asyncio
import dataclasses
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from coder_tui.agent.session import Session
from coder_tui.agent.undo.replay import tape
from coder_tui.cli.arguments import Parser
from coder_tui.cli.output import complain, redactor, say, say_json
from coder_tui.cli.screen import DEFAULT_THEME
from coder_tui.config.paths import display_path, find_directories
from coder_tui.config.sources import find_sources, quick_value
from coder_tui.protocol.errors import StorageError, UsageError, UserError
from coder_tui.storage.drafts import UnsentFiles
from coder_tui.storage.export import to_jsonl, to_markdown
from coder_tui.storage.store import SessionInfo, Store, StoredSession, Trashed
from coder_tui.ui.export_svg import pictures
from coder_tui.ui.launch import Launch


async def export_pictures(stored: StoredSession, output: str, *, is_forced: bool) -> int:
    """Several files where it is long; none is written when one of them is there already."""
    target = Path(output or f"coder-tui-{stored.info.id}.svg")
    if not is_forced:
        _refuse(target)
    pages = await pictures(_launch(stored), tape(stored))
    paths = page_paths(target, len(pages))
    for path in paths if not is_forced else ():
        _refuse(path)
    await asyncio.to_thread(_write_pages, paths, pages)
    for path in paths:
        say(f"Wrote {path}")
    return 0


def page_paths(target: Path, count: int) -> list[Path]:
    if count == 1:
        return [target]
    suffix = target.suffix or ".svg"
    return [target.with_name(f"{target.stem}-{number}{suffix}") for number in range(1, count + 1)]


def _refuse(path: Path) -> None:
    if os.path.lexists(path):
        raise UsageError(f"{path} exists already; choose another name, or add --force")


def _write_pages(paths: list[Path], pages: tuple[str, ...]) -> None:
    for path, page in zip(paths, pages, strict=True):
        try:
            path.write_text(page, encoding="utf-8", errors="replace")
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from error


def _launch(stored: StoredSession) -> Launch:
    """In the person's own theme."""
    directories = find_directories(os.environ)
    sources = find_sources(directories, Path.cwd(), os.environ, {}, None)
    return Launch(
        directory=Path(stored.info.directory),
        theme=str(quick_value(sources, "ui", "theme") or DEFAULT_THEME),
        use_ascii=False,
        open_session=_no_session,
        theme_directory=directories.config / "themes",
        has_motion=False,
    )


async def _no_session() -> Session:
    raise UserError("There is no session to talk to.")


ACTIONS = "list|search|show|export|rename|delete|restore|decisions"


def sessions_parser() -> Parser:
    parser = Parser(prog="coder-tui sessions", description="Stored sessions.")
    commands = parser.add_subparsers(dest="action", required=True, metavar=ACTIONS)
    listing = commands.add_parser("list", help="newest first")
    listing.add_argument("--all", action="store_true", help="of all folders, not only this one")
    listing.add_argument("--deleted", action="store_true", help="those that can be brought back")
    _add_json(listing)
    search = commands.add_parser("search", help="those in which all words were said")
    search.add_argument("words", nargs="+", metavar="WORDS", help="words, or how they begin")
    search.add_argument("--here", action="store_true", help="only of this folder")
    _add_json(search)
    _add_id(commands.add_parser("show", help="print one"))
    export = _add_id(commands.add_parser("export", help="write one to a file or standard output"))
    export.add_argument("--format", choices=("md", "jsonl", "svg"), default="md")
    export.add_argument("--output", "-o", metavar="FILE", help="a file that does not exist yet")
    export.add_argument("--force", action="store_true", help="replace a file that exists")
    rename = _add_id(commands.add_parser("rename", help="give one another title"))
    rename.add_argument("title", nargs="+", metavar="TITLE")
    delete = _add_id(commands.add_parser("delete", help="delete one; it can be brought back for a while"))
    delete.add_argument("--for-good", action="store_true", help="at once, and for ever")
    _add_id(commands.add_parser("restore", help="bring a deleted one back"))
    _add_json(
        _add_id(commands.add_parser("decisions", help="what was allowed, asked or denied, and by which rule"))
    )
    return parser


def _add_id(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("id", metavar="ID", help="its id or a unique beginning of it")
    return parser


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


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
        return _list_deleted(await store.trashed(folder, _LISTED), as_json=arguments.json)
    infos = await store.list_sessions(folder, _LISTED, only_used=True)
    if arguments.json:
        say_json([_as_json(info) for info in infos], indent=2)
        return 0
    for info in infos:
        say(_line(info))
    if not infos:
        say("No sessions here yet." if folder else "No sessions yet.")
    return 0


def _list_deleted(found: tuple[Trashed, ...], *, as_json: bool) -> int:
    if as_json:
        say_json([{**_as_json(each.info), "deleted": each.when.isoformat()} for each in found], indent=2)
        return 0
    for each in found:
        say(f"{_line(each.info)}  (deleted {each.when.astimezone():%Y-%m-%d %H:%M})")
    say("`coder-tui sessions restore ID` brings one back." if found else "There is nothing to bring back.")
    return 0


async def _search(store: Store, arguments: argparse.Namespace) -> int:
    words = " ".join(arguments.words)
    hits = await store.search(words, str(Path.cwd().resolve()) if arguments.here else None)
    if arguments.json:
        found = [{**_as_json(hit.info), "excerpt": hit.excerpt, "passages": hit.count} for hit in hits]
        say_json(found, indent=2)
        return 0
    for hit in hits:
        say(_line(hit.info))
        say(f"    {display_path(Path(hit.info.directory))}: {hit.excerpt}")
    if not hits:
        say(f"Nothing was found for {words}.")
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
    say(to_markdown(await _loaded(store, arguments.id), redactor()))
    return 0


async def _loaded(store: Store, session_id: str) -> StoredSession:
    stored = await store.load((await store.get(session_id)).id)
    if stored.damage:
        complain(f"coder-tui: {stored.damage}")
    return stored


async def _export(store: Store, arguments: argparse.Namespace) -> int:
    stored = await _loaded(store, arguments.id)
    if arguments.format == "svg":
        # What draws it is slow to load.

        return await export_pictures(stored, arguments.output or "", is_forced=arguments.force)
    text = to_markdown(stored, redactor()) if arguments.format == "md" else to_jsonl(stored, redactor())
    if not arguments.output:
        sys.stdout.write(text)
        return 0
    mode = "w" if arguments.force else "x"
    await asyncio.to_thread(_write, Path(arguments.output), text, mode)
    say(f"Wrote {arguments.output}")
    return 0


async def _rename(store: Store, arguments: argparse.Namespace) -> int:
    info = await store.get(arguments.id)
    title = " ".join(" ".join(arguments.title).split())
    if not title:
        raise UsageError("the title is empty")
    await store.rename(info.id, title)
    say(f"{info.id} is called “{title}” now.")
    return 0


async def _delete(store: Store, arguments: argparse.Namespace) -> int:
    if arguments.for_good:
        info = await _wherever(store, arguments.id)
        await store.delete(info.id)
        UnsentFiles(find_directories(os.environ).unsent).forget(info.id)
        say(f"Deleted {info.id} “{info.title or '(untitled)'}” for good.")
        return 0
    info = await store.get(arguments.id)
    await store.discard(info.id)
    say(f"Deleted {info.id} “{info.title or '(untitled)'}”.")
    say(f"To bring it back: coder-tui sessions restore {info.id}  (for 30 days, or what undo.keep_days says)")
    return 0


async def _wherever(store: Store, session_id: str) -> SessionInfo:
    """Also what is in the trash: that is where secrets may have to be removed from."""
    try:
        return await store.get(session_id)
    except StorageError:
        found = [each.info for each in await store.trashed() if each.info.id.startswith(session_id.lower())]
        if len(found) != 1:
            raise
        return found[0]


async def _restore(store: Store, arguments: argparse.Namespace) -> int:
    info = await store.restore(arguments.id)
    say(f"{info.id} “{info.title or '(untitled)'}” is back.")
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


def _write(path: Path, text: str, mode: str) -> None:
    try:
        with path.open(mode, encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise UsageError(f"{path} exists already; choose another name, or add --force") from error
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
