from coder_tui.policy.explain import explain, findings_of
from coder_tui.policy.model import FLOOR_SOURCE, Action, Verdict
from coder_tui.policy.rules import Effect
from coder_tui.policy.shell.analyse import analyse
from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.protocol.findings import Finding, FindingKind


def test_a_verdict_is_told_in_whole_sentences() -> None:
    verdict = Verdict(Effect.ASK, "secrets = ask", FLOOR_SOURCE, ("/ws/.env looks like a secret",))
    assert explain(verdict, (Finding(FindingKind.READS, "/ws/.env"),)) == (
        "ASK: this call runs only when you say yes.",
        "  it reads /ws/.env",
        "  because /ws/.env looks like a secret",
        "  decided by: secrets = ask",
        "  from: built-in protection (a protection that no rule can switch off)",
    )


def test_a_rule_is_told_with_its_file() -> None:
    verdict = Verdict(Effect.ALLOW, "bash 'ls*' = allow", "config.toml:4", ())
    assert explain(verdict, ())[-1] == "  from: config.toml:4"


def test_findings_come_from_the_analysis_else_from_what_the_tool_declared() -> None:
    found = analyse("rm x", "/nowhere")
    action = Action("bash", "bash", ToolKind.EXECUTE, (), found)
    assert findings_of(action) == (Finding(FindingKind.DELETES, "/nowhere/x", "rm"),)
    edit = Action("edit", "edit", ToolKind.EDIT, (Target(TargetKind.PATH, "/ws/a", writes=True),))
    assert findings_of(edit) == (Finding(FindingKind.WRITES, "/ws/a"),)
