"""`coder-tui policy check`, with the rules in a settings file, lets no attack through either."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.policy.corpus import UNDER_TEST, attacks
from tests.policy.planted import plant

ROOT = Path(__file__).parents[2]
ORDINARY = ("git status", "ls -la", "cat a.txt", "rg -n TODO src | sort", "sed -n '1,2p' a.txt")


def test_policy_check_lets_no_attack_through(tmp_path: Path) -> None:
    planted = plant(tmp_path / "base", is_hostile=False)
    tried = [attack for attack in attacks(planted.root) if attack.rules == "attack"]
    commands = [*ORDINARY, *(attack.command for attack in tried)]
    calls = "".join(json.dumps({"tool": "bash", "args": {"command": text}}) + "\n" for text in commands)
    done = subprocess.run(
        [sys.executable, "-m", "coder_tui", "policy", "check", "--stdin", "--json"],
        input=calls,
        cwd=planted.root,
        env=_environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    effects = [json.loads(line)["effect"] for line in done.stdout.splitlines()]
    allowed = [command for command, effect in zip(commands, effects, strict=True) if effect == "allow"]
    assert allowed == list(ORDINARY), done.stderr


def _environment(base: Path) -> dict[str, str]:
    folders = {name: base / name.lower() for name in ("CONFIG", "DATA", "CACHE")}
    folders["CONFIG"].mkdir()
    rules = "".join(f'"{pattern}" = "{effect}"\n' for pattern, effect in UNDER_TEST.items())
    (folders["CONFIG"] / "config.toml").write_text(f"[permission.bash]\n{rules}")
    own = {f"CODER_TUI_{name}_DIR": str(folder) for name, folder in folders.items()}
    return {"PATH": os.environ["PATH"], "HOME": str(base / "base/home"), "PYTHONPATH": str(ROOT), **own}
