"""The language servers that are known, and what a person's settings make of them.

Which language a file is in, by its name or its first line, and what the protocol calls that.
"""

import re
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
    """`key` is what servers are found by, `id` the protocol's own word."""

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
    """`more` are suffixes of the person's own settings, which come first."""
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
    """What brings a server; `OTHER` is the person's own business."""

    PIP = "pip"
    NPM = "npm"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """One server. `language` is a key of `languages`; `markers` name the folder that it works in."""

    name: str
    language: str
    command: tuple[str, ...]
    markers: tuple[str, ...] = (".git",)
    installer: Installer = Installer.OTHER
    packages: tuple[str, ...] = ()
    install: str = ""
    """How it is installed, where no installer of ours does it."""
    is_default: bool = False
    """Whether it is missed when it is not there; others are used when they are."""
    checkers: tuple[str, ...] = ()
    """Programs, one of which it needs to find problems at all."""
    modules: tuple[str, ...] = ()
    """The same as modules of its own Python."""
    checker_hint: str = ""
    runs_project_code: bool = False
    """Whether it runs what a project brings along: build scripts, macros, plugins."""
    not_with: tuple[str, ...] = ()
    """Markers of another tool, whose files these are then."""
    united_by: tuple[str, str] = ("", "")
    """A file that makes one of several projects, which goes before all markers, and what stands in it."""
    only_local: str = ""
    """A package of this name, of at least `local_version`, must lie in the project."""
    local_version: int = 0
    replaces: str = ""
    """The server that is not used where this one is."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    initialization: Mapping[str, Any] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    network: bool = False

    @property
    def install_command(self) -> str:
        match self.installer:
            case Installer.PIP:
                return f"pip install {' '.join(map(_quoted, self.packages))}"
            case Installer.NPM:
                return f"npm i -g {' '.join(self.packages)}{_also(self.checker_hint)}"
            case Installer.OTHER:
                return self.install


def _quoted(package: str) -> str:
    return f"'{package}'" if "[" in package else package


def _also(hint: str) -> str:
    return f" && {hint}" if hint else ""


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
        # Its own default warns of every line without types. A project's configuration overrules this one.
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
        # Typescript 7 has no server that this one could use.
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
class Catalogue:
    """`suffixes` are those that settings add."""

    servers: tuple[ServerSpec, ...] = KNOWN
    suffixes: Mapping[str, Language] = field(default_factory=dict)

    def of_language(self, key: str) -> tuple[ServerSpec, ...]:
        return tuple(spec for spec in self.servers if spec.language == key)


def build_catalogue(table: LspTable, place_of: Callable[[str], str] = str) -> Catalogue:
    """The known servers as the settings change them, and those that they add.

    `place_of` says where the settings of a server stand, for a complaint about them.
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
    return Catalogue(tuple(kept), suffixes)


def server_name(key: str) -> str:
    """A language's name means the server that it has by default."""
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
    words = "a server that is not known needs a command and extensions"
    known = [*(spec.name for spec in KNOWN), *(spec.language for spec in KNOWN)]
    near = get_close_matches(name, known, 1)
    return f"{words}; did you mean lsp.{near[0]}?" if near else words


def _added(name: str, section: LspServerSection, place: str) -> ServerSpec:
    if section.enabled is False:
        return ServerSpec(name, name, section.command)
    if not section.command or not section.extensions:
        raise ConfigError(f"{place}: lsp.{name}: {_incomplete(name)}")
    # Beside the servers that such files have already, not in their place.
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
