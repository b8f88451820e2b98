"""The pieces of a command line: words as the program would get them, redirections, steps."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Word:
    """One word after unquoting; `text` is what the program would get where `doubt` is empty."""

    text: str
    start: int = -1
    end: int = -1
    doubt: str = ""
    """Why the shell would make something else of it: an expansion, a tilde, a brace."""
    glob: str = ""
    """The pattern, where the shell would look for file names; what was quoted in it is escaped."""
    is_bare: bool = True
    """Without any quoting, so that it may be a keyword of the shell."""

    @property
    def is_flag(self) -> bool:
        return len(self.text) > 1 and self.text.startswith("-")

    @property
    def may_become_a_flag(self) -> bool:
        """A file may be called `-o`, and then the pattern `*` is a flag."""
        return self.glob.startswith(("*", "?", "["))


@dataclass(frozen=True, slots=True)
class Redirect:
    operator: str
    target: Word
    descriptor: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One simple command with its redirections and the operators around it."""

    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...] = ()
    before: str = ""
    after: str = ""

    @property
    def is_in_pipeline(self) -> bool:
        return self.before == "|" or self.after == "|"


@dataclass(slots=True)
class StepBuilder:
    """Gathers one step while a line is read."""

    before: str = ""
    words: list[Word] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not self.words and not self.redirects

    def build(self, after: str) -> Step:
        return Step(tuple(self.words), tuple(self.redirects), self.before, after)


def literal(*texts: str) -> tuple[Word, ...]:
    """Words that another program would pass on as they are."""
    return tuple(Word(text) for text in texts)


def named(text: str) -> frozenset[str]:
    """Names in one string: long tables stay readable."""
    return frozenset(text.split())
