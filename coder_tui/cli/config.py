"""`coder-tui config`: where the files are, where each setting comes from, whether all is right."""

from coder_tui.cli.arguments import config_parser
from coder_tui.cli.config_key import key_command
from coder_tui.cli.invocation import read_invocation
from coder_tui.cli.output import say
from coder_tui.config.describe import describe
from coder_tui.config.paths import display_path
from coder_tui.config.settings import load_settings
from coder_tui.protocol.errors import UsageError


def main(argv: list[str]) -> int:
    arguments = config_parser().parse_args(argv)
    if arguments.action == "key":
        return key_command(arguments.provider, is_deletion=arguments.delete)
    if arguments.provider or arguments.delete:
        raise UsageError("a provider and --delete belong to 'coder-tui config key'")
    invocation = read_invocation(arguments)
    directories, sources = invocation.directories, invocation.sources
    if arguments.action == "path":
        file = sources.file.path if sources.file else directories.config / "config.toml"
        state = "" if sources.file else "  (not there yet)"
        say(f"file    {display_path(file)}{state}")
        say(f"config  {display_path(directories.config)}")
        say(f"data    {display_path(directories.data)}")
        say(f"cache   {display_path(directories.cache)}")
        say(f"log     {display_path(directories.log)}")
        return 0
    settings = load_settings(sources)
    for warning in sources.warnings:
        say(f"note: {warning}")
    if arguments.action == "check":
        say("The settings are right.")
        return 0
    for line in describe(settings, sources):
        say(f"{line.key} = {line.value}  # {line.origin}")
    return 0
