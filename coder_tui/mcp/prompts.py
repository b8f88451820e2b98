"""Prompts of servers as a person calls them: `/server:prompt`, its arguments behind it."""

import re
import shlex
from dataclasses import dataclass

from coder_tui.mcp.servers import server_part
from coder_tui.mcp.wire import PromptInfo

_UNFIT = re.compile(r"[^\w-]")
# They stand before commands of the person's and the project's own, whose place no server may take. What is
# called so already is lengthened as well, so that no two servers come to share a name.
RESERVED_NAMES = frozenset({"user", "project"})
_BEFORE = "mcp-"
_RESERVED = re.compile(rf"(?:{_BEFORE})*(?:{'|'.join(sorted(RESERVED_NAMES))})")


class PromptArgumentsError(Exception):
    """What was given does not fill the prompt; the sentence says what it takes."""


@dataclass(frozen=True, slots=True)
class OfferedPrompt:
    server: str
    info: PromptInfo

    @property
    def command(self) -> str:
        """The word behind the slash."""
        server = server_part(self.server).lower()
        if _RESERVED.fullmatch(server):
            server = f"{_BEFORE}{server}"
        return f"{server}:{_UNFIT.sub('_', self.info.name)}".lower()

    @property
    def usage(self) -> str:
        """What may follow: required ones plainly, others in brackets."""
        needed = [each.name for each in self.info.arguments if each.is_required]
        others = [f"[{each.name}]" for each in self.info.arguments if not each.is_required]
        return " ".join((*needed, *others))

    def filled(self, text: str) -> dict[str, str]:
        """`name=value`, or values in their order; the last takes the rest. Raises `PromptArgumentsError`."""
        arguments = self.info.arguments
        known = [each.name for each in arguments]
        given: dict[str, str] = {}
        for word in _words(text):
            name, equals, value = word.partition("=")
            if equals and name in known:
                given[name] = value
                continue
            free = [each for each in known if each not in given]
            if free:
                given[free[0]] = word
            elif known:
                given[known[-1]] += f" {word}"
            else:
                raise PromptArgumentsError(f"/{self.command} takes no arguments")
        missing = [each.name for each in arguments if each.is_required and not given.get(each.name)]
        if missing:
            raise PromptArgumentsError(f"/{self.command} needs {', '.join(missing)}: {self.usage}")
        return given


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quote that is not closed is an apostrophe
        return text.split()
