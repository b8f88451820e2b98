"""What the question of trust says of a project's commands."""

from coder_tui.config.inventory import command_item


def test_the_question_of_trust_shows_what_a_command_would_run_and_talk_to() -> None:
    data = b"---\nmodel: openai/x\n---\nSee !`git status`, !{rm x}\n"
    assert command_item(".claude/commands/x.md", data).sentence == (
        'offers you a command with its own prompt; it wants to run ["git status", "rm x}"], which is asked; '
        'it talks to the model "openai/x"'
    )
