"""The known language servers, as the user's settings change them.

Also the language of a file, by its name or first line, and the protocol's id for it.
"""

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from enum import StrEnum
from pathlib import PurePath
from typing import Any

from coder_tui.config.sections import EVERY_SERVER, LspServerSection, LspTable
from coder_tui.protocol.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Language:
    """`key` selects servers, `id` is the protocol's name."""

    key: str
    id: str


_SHELL, _PYTHON = Language("sh", "shellscript"), Language("py", "python")
_TYPESCRIPT, _JAVASCRIPT = Language("ts", "typescript"), Language("ts", "javascript")
_YAML, _C, _CPP = Language("yaml", "yaml"), Language("c", "c"), Language("c", "cpp")

BY_SUFFIX: Mapping[str, Language] = {
    **dict.fromkeys((".sh", ".bash", ".ksh"), _SHELL),
    **dict.fromkeys((".py", ".pyi"), _PYTHON),
    **dict.fromkeys((".ts", ".mts", ".cts"), _TYPESCRIPT),
    **dict.fromkeys((".js", ".mjs", ".cjs"), _JAVASCRIPT),
    ".tsx": Language("ts", "typescriptreact"),
    ".jsx": Language("ts", "javascriptreact"),
    ".go": Language("go", "go"),
    ".rs": Language("rust", "rust"),
    **dict.fromkeys((".c", ".h"), _C),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx"), _CPP),
    **dict.fromkeys((".yaml", ".yml"), _YAML),
    ".json": Language("json", "json"),
    ".jsonc": Language("json", "jsonc"),
}
_BY_PROGRAM = {
    **dict.fromkeys(("sh", "bash", "dash", "ash", "ksh"), _SHELL),
    **dict.fromkeys(("python", "pypy"), _PYTHON),
    **dict.fromkeys(("node", "nodejs"), _JAVASCRIPT),
    **dict.fromkeys(("ts-node", "tsx"), _TYPESCRIPT),
}
_LONGEST_FIRST_LINE = 200
_VERSION = re.compile(r"[\d.]+$")


def language_of(path: PurePath, text: str, more: Mapping[str, Language]) -> Language | None:
    """Return the language of a file; `more` are the suffixes of the user's settings, which come first."""
    suffix = path.suffix.lower()
    if found := more.get(suffix) or BY_SUFFIX.get(suffix):
        return found
    return _by_first_line(text[:_LONGEST_FIRST_LINE]) if not suffix else None


def _by_first_line(text: str) -> Language | None:
    if not text.startswith("#!"):
        return None
    words = text[2:].partition("\n")[0].split()
    if words and PurePath(words[0]).name == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    if not words:
        return None
    return _BY_PROGRAM.get(_VERSION.sub("", PurePath(words[0]).name))


class Installer(StrEnum):
    """What installs a server; for `OTHER` the user has to."""

    PIP = "pip"
    NPM = "npm"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """One server. `language` is a `Language.key`; `markers` are files that identify its root folder."""

    name: str
    language: str
    command: tuple[str, ...]
    markers: tuple[str, ...] = (".git",)
    installer: Installer = Installer.OTHER
    packages: tuple[str, ...] = ()
    install: str = ""
    """How to install it, if none of our installers does."""
    is_default: bool = False
    """Whether to report it as missing; others are used only if they exist."""
    checkers: tuple[str, ...] = ()
    """Programs of which it needs one to find any problems."""
    modules: tuple[str, ...] = ()
    """The same, as modules of its own Python."""
    checker_hint: str = ""
    runs_project_code: bool = False
    """Whether it runs code from the project: build scripts, macros, plugins."""
    not_with: tuple[str, ...] = ()
    """Markers of another tool; if one exists, files are left to that tool."""
    united_by: tuple[str, str] = ("", "")
    """A file that unites several projects, with text it must contain; it takes precedence over markers."""
    only_local: str = ""
    """The project must have this package, of at least `local_version`."""
    local_version: int = 0
    replaces: str = ""
    """The server that this one replaces."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    initialization: Mapping[str, Any] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    network: bool = False

    @property
    def install_command(self) -> str:
        match self.installer:
            case Installer.PIP:
                return f"pip install {shlex.join(self.packages)}"
            case Installer.NPM:
                checker = f" && {self.checker_hint}" if self.checker_hint else ""
                return f"npm i -g {shlex.join(self.packages)}{checker}"
            case Installer.OTHER:
                return self.install


_PYTHON_ROOTS = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", ".git")
_TYPESCRIPT_ROOTS = (
    *("package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb"),
    *("tsconfig.json", "jsconfig.json", "package.json", ".git"),
)
_DENO = ("deno.json", "deno.jsonc")

KNOWN: tuple[ServerSpec, ...] = (
    ServerSpec(
        "bash-language-server",
        "sh",
        ("bash-language-server", "start"),
        installer=Installer.NPM,
        packages=("bash-language-server",),
        is_default=True,
        checkers=("shellcheck",),
        checker_hint="apt install shellcheck",
    ),
    ServerSpec(
        "pylsp",
        "py",
        ("pylsp",),
        _PYTHON_ROOTS,
        Installer.PIP,
        ("python-lsp-server[all]",),
        is_default=True,
        modules=("pyflakes", "pycodestyle", "flake8", "pylint", "pylsp_mypy", "pylsp_ruff"),
        checker_hint="pip install 'python-lsp-server[all]'",
    ),
    ServerSpec(
        "basedpyright",
        "py",
        ("basedpyright-langserver", "--stdio"),
        ("pyrightconfig.json", *_PYTHON_ROOTS),
        Installer.PIP,
        ("basedpyright",),
        # Its default warns about every untyped line. A project's configuration overrides this setting.
        settings={"basedpyright": {"analysis": {"typeCheckingMode": "standard"}}},
    ),
    ServerSpec(
        "ruff",
        "py",
        ("ruff", "server"),
        ("ruff.toml", ".ruff.toml", *_PYTHON_ROOTS),
        Installer.PIP,
        ("ruff",),
    ),
    ServerSpec("ty", "py", ("ty", "server"), ("ty.toml", *_PYTHON_ROOTS), Installer.PIP, ("ty",)),
    ServerSpec(
        "tsc",
        "ts",
        ("tsc", "--lsp", "--stdio"),
        _TYPESCRIPT_ROOTS,
        install="npm i -D typescript@7",
        not_with=_DENO,
        only_local="typescript",
        local_version=7,
        replaces="typescript-language-server",
    ),
    ServerSpec(
        "typescript-language-server",
        "ts",
        ("typescript-language-server", "--stdio"),
        _TYPESCRIPT_ROOTS,
        Installer.NPM,
        # This server cannot use TypeScript 7.
        ("typescript-language-server", "typescript@5"),
        not_with=_DENO,
        runs_project_code=True,
        initialization={"disableAutomaticTypingAcquisition": True},
    ),
    ServerSpec(
        "gopls",
        "go",
        ("gopls",),
        ("go.mod", ".git"),
        install="go install golang.org/x/tools/gopls@latest",
        runs_project_code=True,
        united_by=("go.work", ""),
    ),
    ServerSpec(
        "rust-analyzer",
        "rust",
        ("rust-analyzer",),
        ("Cargo.toml", ".git"),
        install="rustup component add rust-analyzer",
        runs_project_code=True,
        united_by=("Cargo.toml", "[workspace"),
    ),
    ServerSpec(
        "clangd",
        "c",
        ("clangd",),
        ("compile_commands.json", "compile_flags.txt", ".clangd", ".git"),
        install="apt install clangd",
    ),
    ServerSpec(
        "yaml-language-server",
        "yaml",
        ("yaml-language-server", "--stdio"),
        installer=Installer.NPM,
        packages=("yaml-language-server",),
    ),
    ServerSpec(
        "vscode-json-language-server",
        "json",
        ("vscode-json-language-server", "--stdio"),
        installer=Installer.NPM,
        packages=("vscode-langservers-extracted",),
    ),
)


@dataclass(frozen=True, slots=True)
class Catalog:
    """`suffixes` are those that the settings add."""

    servers: tuple[ServerSpec, ...] = KNOWN
    suffixes: Mapping[str, Language] = field(default_factory=dict)

    def of_language(self, key: str) -> tuple[ServerSpec, ...]:
        return tuple(spec for spec in self.servers if spec.language == key)


def build_catalog(table: LspTable, place_of: Callable[[str], str] = str) -> Catalog:
    """Apply the settings to the known servers, and add the servers that they define.

    `place_of` says where a server's settings are, for error messages.
    """
    servers = {spec.name: spec for spec in KNOWN}
    suffixes: dict[str, Language] = {}
    for key, section in table.items():
        name = key if key in servers else server_name(key)
        if name == EVERY_SERVER:
            continue
        spec = servers.get(name)
        servers[name] = _changed(spec, section) if spec else _added(name, section, place_of(key))
        language = servers[name].language
        for suffix in section.extensions:
            usual = BY_SUFFIX.get(suffix)
            suffixes[suffix] = Language(language, section.language_id or (usual.id if usual else language))
    is_on = {server_name(key): section.enabled for key, section in table.items()}
    others = is_on.get(EVERY_SERVER)
    kept = (spec for spec in servers.values() if _first(is_on.get(spec.name), others, True))
    return Catalog(tuple(kept), suffixes)


def server_name(key: str) -> str:
    """Return the server that a settings key means; a language's name means its default server."""
    return next((spec.name for spec in KNOWN if spec.is_default and spec.language == key), key)


def _first(*values: bool | None) -> bool:
    return next(value for value in values if value is not None)


def _changed(spec: ServerSpec, section: LspServerSection) -> ServerSpec:
    return replace(
        spec,
        command=section.command or spec.command,
        markers=section.root_markers or spec.markers,
        united_by=("", "") if section.root_markers else spec.united_by,
        is_default=spec.is_default or section.enabled is True,
        settings=section.settings or spec.settings,
        initialization=section.initialization or spec.initialization,
        environment={**spec.environment, **section.env},
        network=section.network or spec.network,
    )


def _incomplete(name: str) -> str:
    words = "this server is not a known one, so it needs a command and extensions"
    known = [*(spec.name for spec in KNOWN), *(spec.language for spec in KNOWN)]
    near = get_close_matches(name, known, 1)
    return f"{words}; did you mean lsp.{near[0]}?" if near else words


def _added(name: str, section: LspServerSection, place: str) -> ServerSpec:
    if section.enabled is False:
        return ServerSpec(name, name, section.command)
    if not section.command or not section.extensions:
        raise ConfigError(f"{place}: lsp.{name}: {_incomplete(name)}")
    # In addition to the servers that such files already have.
    known = BY_SUFFIX.get(section.extensions[0])
    return ServerSpec(
        name,
        known.key if known else name,
        section.command,
        section.root_markers or (".git",),
        install=f"what lsp.{name} names: {section.command[0]}",
        is_default=True,
        runs_project_code=True,
        settings=section.settings,
        initialization=section.initialization or None,
        environment=section.env,
        network=section.network,
    )
