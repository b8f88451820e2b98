"""Interpreters, build tools, test runners and package managers: they run code from the folder."""

import re

from coder_tui.policy.paths import is_secret
from coder_tui.policy.shell.call import Call, Judge
from coder_tui.policy.shell.notes import CommandNotes, Word, named
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
# Where each one puts its packages, if that is in the folder.
_PACKAGES = {
    **dict.fromkeys(named("npm pnpm yarn bun npx pnpx bunx"), "node_modules"),
    **dict.fromkeys(named("uv poetry pdm"), ".venv"),
    **dict.fromkeys(named("cargo mvn"), "target"),
    **dict.fromkeys(named("bundle bundler composer"), "vendor"),
    "gradle": "build",
    "dotnet": "obj",
    "mix": "deps",
    "cabal": "dist-newstyle",
    "stack": ".stack-work",
    **dict.fromkeys(
        named(
            "pip pip3 pipx pipenv conda mamba go gem apt apt-get brew dnf yum pacman apk snap flatpak "
            "port nix nix-shell nix-env rustup nvm corepack uvx"
        ),
        "",
    ),
}
# They download missing packages automatically.
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


def _check_words(call: Call, notes: CommandNotes) -> None:
    notes.is_read_only = False
    for word in call.arguments:
        if word.doubt:
            notes.doubt(word.doubt)
    note_elsewhere(call.arguments, notes)


def note_elsewhere(words: tuple[Word, ...], notes: CommandNotes) -> None:
    """Note paths outside the folder, and secrets, whatever the program does with them."""
    for word in words:
        # `-f/x`, `--file=/x` and `a=/x` name a path as well as `/x` does.
        for text in {word.text, word.text.partition("=")[2], word.text[2:] if word.is_flag else ""}:
            if _ELSEWHERE.search(text) and "://" not in text:
                notes.read(Word(text, doubt=word.doubt), "the command names it")
            if text and is_secret(text):
                notes.read(Word(text, doubt=word.doubt), "the command names it")


def _asks_version(call: Call) -> bool:
    """Return whether an interpreter is asked for its version.

    Other tools read the folder's files even then.
    """
    return len(call.words) == 2 and call.words[1].text in _QUIET_VERSIONS and call.words[1].is_bare


def _judge_interpreter(call: Call, notes: CommandNotes) -> None:
    if _asks_version(call):
        notes.find(FindingKind.READS, "", "its version")
        return
    _check_words(call, notes)
    notes.runs(call.name, "an interpreter runs whatever its script says")


def _judge_shell(call: Call, notes: CommandNotes) -> None:
    _check_words(call, notes)
    notes.runs(call.name, "another shell runs whatever it is given")
    notes.doubt(f"{call.name} starts another shell")
    arguments = list(call.arguments)
    for index, word in enumerate(arguments[:-1]):
        if re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*", word.text):
            following = next((item for item in arguments[index + 1 :] if not item.is_flag), None)
            if following is not None:
                notes.scripts.append(following.text)
            break


def _judge_package_manager(call: Call, notes: CommandNotes) -> None:
    _check_words(call, notes)
    action = next((word.text for word in call.arguments if not word.is_flag), "")
    notes.runs(call.name, "packages can run scripts and plugins")
    uses_network = (
        action in _INSTALLING
        or f"{call.name}:{action}" in _FETCHING
        or f"{call.name}:" in _FETCHING
        or not action
    )
    if uses_network:
        notes.network("", f"{call.name} fetches packages")
    folder = _PACKAGES.get(call.name, "")
    for directory in notes.context.directories:
        if folder:
            notes.find(
                FindingKind.WRITES, f"{directory.rstrip('/')}/{folder}", f"{call.name} puts packages there"
            )


def _judge_build_tool(call: Call, notes: CommandNotes) -> None:
    _check_words(call, notes)
    notes.runs(call.name, "it runs what the folder's files say")


def judge_unlisted(call: Call, notes: CommandNotes) -> None:
    """Judge an unknown program: only a rule that names it lets it run."""
    _check_words(call, notes)
    if _VERSIONED.fullmatch(call.name):
        _judge_interpreter(call, notes)
    elif "/" in call.name:
        notes.runs(call.name, "a program by its path")
    else:
        notes.unknown(call.name, "this program is unknown")


BUILDING: dict[str, Judge] = {
    **dict.fromkeys(_BUILD_TOOLS, _judge_build_tool),
    **dict.fromkeys(INTERPRETERS, _judge_interpreter),
    **dict.fromkeys(SHELLS, _judge_shell),
    **dict.fromkeys(_PACKAGES, _judge_package_manager),
}
