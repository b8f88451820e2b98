"""`coder-tui models`: lists the models that can be used, and what the others still need."""

import asyncio
import dataclasses

from coder_tui.cli.arguments import Parser, make_parser
from coder_tui.cli.output import print_json, print_line
from coder_tui.llm.catalog import CatalogEntry, available_models
from coder_tui.llm.keys import ModelKeys


def models_parser() -> Parser:
    parser = make_parser("models", "List the models that can be used, and what the others still need.")
    parser.switch("--json", "print JSON")
    return parser


def main(argv: list[str]) -> int:
    arguments = models_parser().parse_args(argv)
    entries = asyncio.run(_entries())
    if arguments.json:
        print_json([dataclasses.asdict(entry) for entry in entries], indent=2)
        return 0
    for entry in sorted(entries, key=lambda entry: not entry.available):
        print_line(_line(entry))
    if not any(entry.available for entry in entries):
        print_line("\nNo API key and no local model server was found.")
        print_line("Save a key with 'coder-tui config key PROVIDER', or try 'coder-tui demo' without one.")
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
