"""What the trust dialog shows about a project's commands."""

from coder_tui.config.inventory import command_item


def test_the_trust_dialog_shows_what_a_command_would_run_and_which_model_it_uses() -> None:
    data = b"---\nmodel: openai/x\n---\nSee !`git status`, !{rm x}\n"
    assert command_item(".claude/commands/x.md", data).sentence == (
        'offers you a command with its own prompt; it wants to run ["git status", "rm x}"], after asking; '
        'it uses the model "openai/x"'
    )
