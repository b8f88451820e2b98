"""What a project's file never decides, trusted or not: where secrets go and whom to believe."""

from collections.abc import Mapping

from coder_tui.config.toml_lines import KeyPath

# A proxy or a certificate lets its owner read every conversation, keys included; a variable that is
# passed on hands a secret to each command. An agent's table would be mixed with the person's own of that
# name. Keys are a person's habit: a changed one answers for them. Trust
# is bound to the content of a project's own skills; of a folder that it names it would not be. How much can
# be undone is what a person relies on.
_NEVER: frozenset[KeyPath] = frozenset(
    {
        ("agents", "custom"),
        ("bash", "pass_environment"),
        ("fetch", "insecure_hosts"),
        ("fetch", "proxy"),
        ("fetch", "ca_bundle"),
        ("model", "proxy"),
        ("model", "ca_bundle"),
        ("skills", "paths"),
        ("ui", "keys"),
        ("undo", "commands"),
        ("undo", "most_files"),
        ("undo", "largest_file_mb"),
        ("undo", "keep_days"),
        ("undo", "keep_mb"),
    }
)
_SECRET_ENDINGS = ("key", "token", "secret", "password")


def is_never_taken(path: KeyPath) -> bool:
    key = str(path[-1]).casefold()
    return path in _NEVER or (len(path) == 2 and key.endswith(_SECRET_ENDINGS))


def split_never(values: Mapping[str, object]) -> tuple[dict[str, object], tuple[KeyPath, ...]]:
    """The values without what is never taken, and the places of that."""
    kept: dict[str, object] = {}
    left_out: list[KeyPath] = []
    for section, table in values.items():
        if not isinstance(table, dict) or section == "permission":
            kept[section] = table
            continue
        left_out += [(section, key) for key in table if is_never_taken((section, key))]
        kept[section] = {key: value for key, value in table.items() if not is_never_taken((section, key))}
    return kept, tuple(left_out)
