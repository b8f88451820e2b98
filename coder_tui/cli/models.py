"""`coder-tui models`: what could be used, and what is missing for the rest."""

import asyncio
import dataclasses

from coder_tui.cli.arguments import models_parser
from coder_tui.cli.output import say, say_json
from coder_tui.llm.catalog import CatalogEntry, available_models
from coder_tui.llm.keys import ModelKeys


def main(argv: list[str]) -> int:
    arguments = models_parser().parse_args(argv)
    entries = asyncio.run(_entries())
    if arguments.json:
        say_json([dataclasses.asdict(entry) for entry in entries], indent=2)
        return 0
    for entry in sorted(entries, key=lambda entry: not entry.available):
        say(_line(entry))
    if not any(entry.available for entry in entries):
        say("\nNo key, no local server. 'coder-tui config key' keeps a key; 'coder-tui demo' needs none.")
    return 0


async def _entries() -> tuple[CatalogEntry, ...]:
    keys = ModelKeys()
    await keys.complete()
    return await available_models(keys.environment)


def _line(entry: CatalogEntry) -> str:
    context = f"{entry.context // 1000}k" if entry.context else "?"
    price = "?" if entry.cost_in is None else f"${entry.cost_in:g}/{entry.cost_out:g}"
    state = "ready" if entry.available else entry.missing
    return f"{'✓' if entry.available else '·'} {entry.id:<44} {context:>6}  {price:>10}  {state}"
