from coder_tui.policy.decide import explain, findings_of
from coder_tui.policy.rules import Effect
from coder_tui.policy.shell.analysis import analyze_command
from coder_tui.policy.targets import FLOOR_SOURCE, Action, Verdict
from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.protocol.findings import Finding, FindingKind


def test_a_verdict_is_explained_in_sentences() -> None:
    verdict = Verdict(Effect.ASK, "secrets = ask", FLOOR_SOURCE, ("/ws/.env looks like a secret",))
    assert explain(verdict, (Finding(FindingKind.READS, "/ws/.env"),)) == (
        "ASK: this call runs only if you allow it.",
        "  it reads /ws/.env",
        "  because /ws/.env looks like a secret",
        "  decided by: secrets = ask",
        "  from: built-in protection (a protection that no general rule can switch off)",
    )


def test_a_rule_is_explained_with_its_file() -> None:
    verdict = Verdict(Effect.ALLOW, "bash 'ls*' = allow", "config.toml:4", ())
    assert explain(verdict, ())[-1] == "  from: config.toml:4"


def test_findings_come_from_the_analysis_or_from_what_the_tool_declared() -> None:
    found = analyze_command("rm x", "/nowhere")
    action = Action("bash", "bash", ToolKind.EXECUTE, (), found)
    assert findings_of(action) == (Finding(FindingKind.DELETES, "/nowhere/x", "rm"),)
    edit = Action("edit", "edit", ToolKind.EDIT, (Target(TargetKind.PATH, "/ws/a", writes=True),))
    assert findings_of(edit) == (Finding(FindingKind.WRITES, "/ws/a"),)
