"""The real language servers that the tests know, each with a file to find fault with."""

import contextlib
import os
import re
import shutil
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from coder_tui.lsp.checker import Checker
from coder_tui.lsp.servers import KNOWN, ServerSpec
from coder_tui.lsp.wire import Checked, ServerOrder
from coder_tui.shell.environment import clean_environment
from coder_tui.shell.sandbox.sandbox import Sandbox, SandboxFolders, SandboxSetting, SandboxStatus
from tests.fakes.lsp_plain import Row
from tests.fakes.lsp_pools import server_path
from tests.fakes.shells import BUBBLEWRAP, UNCONFINED, folders_in


@dataclass(frozen=True, slots=True)
class Case:
    """Texts for one server: `broken` has problems, `fixed` has none, `emoji` has some behind an emoji."""

    server: str
    file: str
    language: str
    broken: str
    fixed: str
    emoji: str

    def clean(self, number: int) -> str:
        """One of many texts without problems."""
        return self.fixed.replace("1", str(number))

    def faulty(self, number: int) -> str:
        """One of many texts with the same problems."""
        return re.sub(r"\b[ax]\b", lambda found: f"{found[0]}{number}", self.broken)

    @property
    def spec(self) -> ServerSpec:
        return next(spec for spec in KNOWN if spec.name == self.server)

    @property
    def is_installed(self) -> bool:
        return shutil.which(self.spec.command[0], path=server_path()) is not None

    @property
    def argv(self) -> tuple[str, ...]:
        program = shutil.which(self.spec.command[0], path=server_path())
        if program is None:
            pytest.skip(f"needs {self.server}: {self.spec.install_command}")
        return (program, *self.spec.command[1:])


_PYTHON = ("a.py", "python", "x = undefined_name\n", "x = 1\n", "s = '😀'; y = undefined_name\n")
CASES = (
    Case("pylsp", *_PYTHON),
    Case("ruff", *_PYTHON),
    Case("basedpyright", *_PYTHON),
    Case(
        "bash-language-server",
        "a.sh",
        "shellscript",
        "#!/bin/sh\necho $x\n",
        "#!/bin/sh\necho 1\n",
        "#!/bin/sh\necho '😀' $x\n",
    ),
    Case(
        "typescript-language-server",
        "a.ts",
        "typescript",
        "export const a: number = 'x'\n",
        "export const a: number = 1\n",
        "export const e = '😀', a: number = 'x'\n",
    ),
    Case("yaml-language-server", "a.yaml", "yaml", "a: [\n", "a: 1\n", "a: '😀'\na: '😀' b\n"),
    Case("vscode-json-language-server", "a.json", "json", "{a}", '{"a": 1}', '{"😀": x}'),
)


def rows(checked: Checked) -> list[Row]:
    return sorted(
        (item.line, item.character, str(item.severity), item.message, item.code, item.source)
        for item in checked.items
    )


@contextlib.asynccontextmanager
async def real_checker(
    case: Case, root: Path, settings: Mapping[str, object] | None = None
) -> AsyncIterator[Checker]:
    """Confined as in a session, where that works."""
    environment = {**clean_environment(os.environ), "PATH": server_path()}
    initialization = dict(case.spec.initialization) if case.spec.initialization else None
    order = ServerOrder(
        case.server,
        case.server,
        case.argv,
        str(root),
        environment,
        settings=dict(settings or {}),
        initialization=initialization,
    )
    folders = folders_in(root.parent)
    readable = SandboxFolders(folders.own, (*folders.readable, root), folders.cache)
    status: SandboxStatus = BUBBLEWRAP if BUBBLEWRAP.program else UNCONFINED
    sandbox = Sandbox(status, SandboxSetting.AUTO, (), readable, Path.home())
    checker = Checker(order, sandbox, lambda event: None)
    try:
        yield checker
    finally:
        await checker.close()
        sandbox.close()
