"""Generate shell commands: programs with harmless and harmful words, combined in many ways."""

import random
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_WORDS = Path(__file__).with_name("shell_words.toml")


@dataclass(frozen=True, slots=True)
class Program:
    name: str
    calm: tuple[str, ...]
    sharp: tuple[str, ...]
    first: tuple[str, ...]
    """Words before any path: a pattern, a script."""


def _program(table: dict[str, Any]) -> Program:
    return Program(table["name"], tuple(table["calm"]), tuple(table["sharp"]), tuple(table.get("first", ())))


class Grammar:
    """The same seed gives the same commands. `known` are commands to start mutations from."""

    def __init__(self, seed: int, base: str, known: Sequence[str], *, is_wide: bool) -> None:
        self._random = random.Random(seed)
        self._base = base
        self._known = known
        self._words: dict[str, Any] = tomllib.loads(_WORDS.read_text())
        tables = self._words["program"] + (self._words["more"] if is_wide else [])
        self._programs = [_program(table) for table in tables]
        self._shapes: tuple[tuple[Callable[[], str], int], ...] = (
            (self._calm, 12),
            (self._simple, 22),
            (self._joined, 22),
            (self._dressed, 14),
            (self._bent, 20),
            (self._bent_known, 10),
            (self._scrambled, 12),
        )

    @property
    def programs(self) -> frozenset[str]:
        return frozenset(program.name.split()[0] for program in self._programs)

    def command(self) -> str:
        weights = [weight for _, weight in self._shapes]
        [(shape, _)] = self._random.choices(self._shapes, weights)
        return shape().replace("{base}", self._base)

    def _one(self, name: str) -> str:
        word: str = self._random.choice(self._words[name])
        return word

    def _is(self, chance: float) -> bool:
        return self._random.random() < chance

    def _calm(self) -> str:
        return self._call(sharpness=0)

    def _simple(self) -> str:
        command = self._call(sharpness=0.25, disguise=0.12)
        if self._is(0.2):
            command += " " + self._one("calm_redirections")
        if self._is(0.1):
            command += " " + self._redirection()
        return command

    def _call(self, *, sharpness: float, disguise: float = 0.0) -> str:
        program = self._random.choice(self._programs)
        words = []
        if program.first:
            words.append(self._random.choice(program.first))
        paths = "sharp_paths" if self._is(sharpness) else "calm_paths"
        words += [self._one(paths) for _ in range(self._random.choice((0, 1, 1, 1, 2)))]
        for _ in range(self._random.choice((0, 1, 1, 2))):
            flags = program.sharp if self._is(sharpness) and program.sharp else program.calm
            if flags:
                words.insert(self._random.randint(0, len(words)), self._random.choice(flags))
        if program.name == "find":
            # Most of the time, the paths of find come before its conditions.
            words.sort(key=lambda word: word.startswith("-") and self._is(0.9))
        return " ".join(self._written(word, disguise) for word in (program.name, *words))

    def _written(self, word: str, disguise: float) -> str:
        """Return the same word as a shell might be made to read it."""
        if not self._is(disguise) or "'" in word:
            return word
        middle = self._random.randint(0, len(word))
        head, tail = word[:middle], word[middle:]
        return self._random.choice(
            (
                f"'{word}'",
                f'"{word}"',
                f"{head}''{tail}",
                f'{head}""{tail}',
                f"{head}\\{tail}",
                f"'{head}'\"{tail}\"",
                f"{head}\\\n{tail}",
                f"$'{word}'",
                f'$"{word}"',
                f"{head}$Z{tail}",
                f"{head}$@{tail}",
                f"{head}`:`{tail}",
                word.upper(),
                f"{head}{self._one('expansions')}{tail}",
            )
        )

    def _redirection(self) -> str:
        return self._one("redirections").replace("{t}", self._one("targets"))

    def _joined(self) -> str:
        parts = [self._call(sharpness=0.15, disguise=0.05) for _ in range(self._random.choice((2, 2, 3, 4)))]
        if self._is(0.4):
            parts.insert(self._random.randint(0, len(parts)), self._one("payloads"))
        calm_separators = self._words["separators"][:5]
        command = parts[0]
        for part in parts[1:]:
            separator = self._random.choice(calm_separators) if self._is(0.7) else self._one("separators")
            command += separator + part
        return command

    def _dressed(self) -> str:
        """Return a call with something before, after or around it."""
        command = self._call(sharpness=0.1) if self._is(0.8) else self._one("payloads")
        match self._random.randrange(6):
            case 0:
                return f"{self._one('wrappers')} {command}"
            case 1:
                return f"{self._one('prefixes')} {command}"
            case 2:
                return f"{command} {self._one('expansions')}"
            case 3:
                return f"{self._redirection()} {command}"
            case 4:
                return f"{self._one('wrappers')} {self._one('wrappers')} {command}"
            case _:
                return f"{self._one('prefixes')} {command}{self._one('separators')}{self._one('payloads')}"

    def _bent(self) -> str:
        return self._mutated(self._random.choice((self._simple, self._joined, self._dressed))())

    def _bent_known(self) -> str:
        return self._mutated(self._random.choice(self._known))

    def _scrambled(self) -> str:
        """Return pieces that shells read in their own ways, in any order."""
        pieces = [self._one("pieces") for _ in range(self._random.randint(2, 12))]
        return self._random.choice(("ls ", "cat ", "echo ", "ls\n", "cat a.txt", "")) + "".join(pieces)

    def _mutated(self, command: str) -> str:
        for _ in range(self._random.choice((1, 1, 1, 2, 3, 5))):
            place = self._random.randint(0, len(command))
            head, tail = command[:place], command[place:]
            match self._random.randrange(6):
                case 0 | 1:
                    command = head + self._random.choice(self._words["characters"]) + tail
                case 2:
                    command = head + tail[1:]
                case 3:
                    command = head + self._random.choice(self._words["characters"]) + tail[1:]
                case 4:
                    command = head + tail[:3] + tail
                case _:
                    command = head + self._one("expansions" if self._is(0.5) else "separators") + tail
        return command
