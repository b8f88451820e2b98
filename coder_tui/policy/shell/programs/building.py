"""Interpreters, build tools, test runners and package managers: they run code that the folder holds."""

import re

from coder_tui.policy.paths import is_secret
from coder_tui.policy.shell.call import Call, Judge
from coder_tui.policy.shell.notes import Notes, Word, named
from coder_tui.protocol.findings import FindingKind

INTERPRETERS = named(
    "python python2 python3 pypy pypy3 ipython node nodejs deno bun ruby irb perl php lua luajit tclsh "
    "wish expect R Rscript julia ghci runghc scala groovy java jshell kotlin osascript swift elixir iex "
    "erl guile sbcl clisp gdb lldb emacs vi vim nvim nano ed ex less more man most view pico joe micro "
    "code tmux screen script at batch crontab sqlite3 bc dc m4 ts-node tsx esno rake jrake"
)
SHELLS = named("sh bash dash zsh ksh mksh ash fish csh tcsh pwsh powershell xonsh nu elvish rbash")
_VERSIONED = re.compile(r"(python|pypy|ruby|perl|php|lua|node)-?[0-9.]+")
_INSTALLING = named(
    "install i ci add update upgrade up remove rm uninstall un link unlink dedupe audit outdated publish "
    "pack view info search create init exec dlx x fetch get download sync lock restore require global "
    "self-update tap"
)
_PACKAGES = {
    "npm": "node_modules",
    "pnpm": "node_modules",
    "yarn": "node_modules",
    "bun": "node_modules",
    "pip": "",
    "pip3": "",
    "pipx": "",
    "uv": ".venv",
    "poetry": ".venv",
    "pdm": ".venv",
    "pipenv": "",
    "conda": "",
    "mamba": "",
    "cargo": "target",
    "go": "",
    "gem": "",
    "bundle": "vendor",
    "bundler": "vendor",
    "composer": "vendor",
    "mvn": "target",
    "gradle": "build",
    "dotnet": "obj",
    "mix": "deps",
    "cabal": "dist-newstyle",
    "stack": ".stack-work",
    "apt": "",
    "apt-get": "",
    "brew": "",
    "dnf": "",
    "yum": "",
    "pacman": "",
    "apk": "",
    "snap": "",
    "flatpak": "",
    "port": "",
    "nix": "",
    "nix-shell": "",
    "nix-env": "",
    "rustup": "",
    "nvm": "",
    "corepack": "",
    "npx": "node_modules",
    "pnpx": "node_modules",
    "bunx": "node_modules",
    "uvx": "",
}
# They fetch what is missing by themselves.
_FETCHING = named(
    "cargo:build cargo:run cargo:test cargo:check cargo:clippy cargo:doc cargo:bench go:build go:test "
    "go:run go:mod go:vet go:generate mvn: gradle: dotnet:build dotnet:test dotnet:run mix:deps.get npx: "
    "pnpx: bunx: uvx: uv:run uv:pip uv:tool stack:build cabal:build rustup: bundle: yarn: apt: apt-get: "
    "brew: dnf: yum: pacman: apk: snap: flatpak: port: nix: nix-shell: nix-env: gem: composer: conda: "
    "mamba: pipx: nvm: corepack:"
)
_QUIET_VERSIONS = frozenset({"--version", "-V", "-v", "version"})
_BUILD_TOOLS = named(
    "make gmake cmake ctest ninja meson bazel buck just task invoke nox tox pytest py.test unittest jest "
    "vitest mocha ava karma cypress playwright eslint prettier tsc vite webpack rollup esbuild parcel "
    "next nuxt astro svelte-check turbo nx lerna rspec rubocop phpunit phpstan ruff black isort mypy "
    "pyright flake8 pylint bandit coverage pre-commit golangci-lint gofmt goimports staticcheck rustfmt "
    "rustc gcc g++ clang clang++ cc c++ ld javac kotlinc sbt ant xcodebuild swiftc zig ghc stylelint "
    "biome deptry pyink hatch flit twine sphinx-build mkdocs protoc buf sqlc clang-format clang-tidy "
    "shellcheck shfmt hadolint tflint terraform-docs oxlint knip madge"
)
_ELSEWHERE = re.compile(r"^/|(^|/)\.\.(/|$)")


def _check_words(call: Call, notes: Notes) -> None:
    notes.is_read_only = False
    for word in call.arguments:
        if word.doubt:
            notes.doubt(word.doubt)
    note_elsewhere(call.arguments, notes)


def note_elsewhere(words: tuple[Word, ...], notes: Notes) -> None:
    """Paths that lead out of the folder, and secrets, whatever the program would do with them."""
    for word in words:
        # `-f/x`, `--file=/x` and `a=/x` name a path as well as `/x` does.
        for text in {word.text, word.text.partition("=")[2], word.text[2:] if word.is_flag else ""}:
            if _ELSEWHERE.search(text) and "://" not in text:
                notes.read(Word(text, doubt=word.doubt), "it is named")
            if text and is_secret(text):
                notes.read(Word(text, doubt=word.doubt), "it is named")


def _asks_version(call: Call) -> bool:
    """Of interpreters only: package managers and test runners obey the folder's files even for that."""
    return len(call.words) == 2 and call.words[1].text in _QUIET_VERSIONS and call.words[1].is_bare


def _judge_interpreter(call: Call, notes: Notes) -> None:
    if _asks_version(call):
        notes.find(FindingKind.READS, "", "its version")
        return
    _check_words(call, notes)
    notes.runs(call.name, "an interpreter does whatever its script says")


def _judge_shell(call: Call, notes: Notes) -> None:
    _check_words(call, notes)
    notes.runs(call.name, "another shell does whatever it is told")
    notes.doubt(f"{call.name} starts another shell")
    arguments = list(call.arguments)
    for index, word in enumerate(arguments[:-1]):
        if re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*", word.text):
            following = next((item for item in arguments[index + 1 :] if not item.is_flag), None)
            if following is not None:
                notes.scripts.append(following.text)
            break


def _judge_package_manager(call: Call, notes: Notes) -> None:
    _check_words(call, notes)
    action = next((word.text for word in call.arguments if not word.is_flag), "")
    notes.runs(call.name, "scripts and plugins of packages run")
    uses_network = (
        action in _INSTALLING
        or f"{call.name}:{action}" in _FETCHING
        or f"{call.name}:" in _FETCHING
        or not action
    )
    if uses_network:
        notes.network("", f"{call.name} fetches packages")
    folder = _PACKAGES.get(call.name, "")
    for directory in notes.place.directories:
        if folder:
            notes.find(
                FindingKind.WRITES, f"{directory.rstrip('/')}/{folder}", f"{call.name} puts packages there"
            )


def _judge_build_tool(call: Call, notes: Notes) -> None:
    _check_words(call, notes)
    notes.runs(call.name, "it runs what the folder's files say")


def judge_unlisted(call: Call, notes: Notes) -> None:
    """A program that nothing is known of: only a rule that names it lets it run."""
    _check_words(call, notes)
    if _VERSIONED.fullmatch(call.name):
        _judge_interpreter(call, notes)
    elif "/" in call.name:
        notes.runs(call.name, "a program by its path")
    else:
        notes.unknown(call.name, "nothing is known of this program")


BUILDING: dict[str, Judge] = {
    **dict.fromkeys(_BUILD_TOOLS, _judge_build_tool),
    **dict.fromkeys(INTERPRETERS, _judge_interpreter),
    **dict.fromkeys(SHELLS, _judge_shell),
    **dict.fromkeys(_PACKAGES, _judge_package_manager),
}
