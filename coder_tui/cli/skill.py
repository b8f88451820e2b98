"""`coder-tui skill`: which skills there are, a new one, and what is wrong with one."""

import argparse
from dataclasses import asdict
from pathlib import Path

from coder_tui.bootstrap.open_session import prepare
from coder_tui.bootstrap.setup import Setup
from coder_tui.bootstrap.toolset import build_policy, build_skills
from coder_tui.cli.arguments import Parser, add_common
from coder_tui.cli.invocation import read_invocation
from coder_tui.cli.output import complain, say, say_json
from coder_tui.config.paths import display_path
from coder_tui.config.project import SKILL_FOLDERS
from coder_tui.policy.decide import Action, Verdict, decide
from coder_tui.protocol.errors import UsageError
from coder_tui.shell.sandbox.sandbox import home_folder
from coder_tui.skills.authoring import SkillRow, new_skill, skill_report, skill_rows, skills_at, validate
from coder_tui.skills.session_skills import SkillShelf, opens_nothing
from coder_tui.skills.skill import Problem, Severity
from coder_tui.text.safe_text import safe_line

WRONG = 1


def main(argv: list[str]) -> int:
    arguments = skill_parser().parse_args(argv)
    match arguments.action:
        case "new":
            return _new(arguments)
        case "validate":
            return _validate(arguments)
        case _:
            return _list(arguments)


def skill_parser() -> Parser:
    parser = Parser(prog="coder-tui skill", description="Instructions that an agent loads when they fit.")
    commands = parser.add_subparsers(dest="action", required=True, metavar="list|new|validate")
    listing = commands.add_parser("list", help="every skill that was found, and whether it is used")
    listing.add_argument("--json", action="store_true", help="print JSON")
    add_common(listing)
    new = commands.add_parser("new", help="begin a skill")
    new.add_argument("name", metavar="NAME", help="a-z, 0-9 and single hyphens")
    new.add_argument("--description", default="", metavar="TEXT", help="what it does, and when to use it")
    place = new.add_mutually_exclusive_group()
    place.add_argument("--project", action="store_true", help="for everyone in this project")
    place.add_argument("--path", metavar="DIR", help="in this folder of skills")
    check = commands.add_parser("validate", help="what is wrong with a skill, or with all below a folder")
    check.add_argument("paths", nargs="+", metavar="PATH", help="a skill's folder, or a folder of skills")
    check.add_argument("--strict", action="store_true", help="warnings count as errors")
    check.add_argument("--json", action="store_true", help="print JSON")
    return parser


def _list(arguments: argparse.Namespace) -> int:
    shelf = _shelf(prepare(read_invocation(arguments)))
    if arguments.json:
        told = {
            "skills": [_row_json(row) for row in skill_rows(shelf)],
            "problems": [_problem_json(problem) for problem in shelf.found.problems],
        }
        say_json(told, indent=2)
        return 0
    for line in skill_report(shelf):
        say(safe_line(line))
    return 0


def _shelf(setup: Setup) -> SkillShelf:
    policy = build_policy(setup)

    def decide_on(action: Action) -> Verdict:
        return decide(action, policy)

    return build_skills(setup, decide_on, opens_nothing)


def _row_json(row: SkillRow) -> dict[str, str]:
    skill = row.skill
    return {
        "name": skill.name,
        "description": skill.description,
        "source": skill.source,
        "directory": str(skill.directory),
        "state": row.state,
        "note": row.note,
    }


def _problem_json(problem: Problem) -> dict[str, object]:
    return {**asdict(problem), "file": str(problem.file)}


def _new(arguments: argparse.Namespace) -> int:
    if arguments.path:
        root = Path(arguments.path).expanduser()
    else:
        root = (Path.cwd() if arguments.project else home_folder()) / SKILL_FOLDERS[0]
    file = new_skill(root, arguments.name, arguments.description)
    say(f"Written: {display_path(file)}")
    say(f"Fill it in, then check it: coder-tui skill validate {display_path(file.parent)}")
    if arguments.project:
        say("It is used once you trust it, as it is then: coder-tui trust")
    return 0


def _validate(arguments: argparse.Namespace) -> int:
    folders = [folder for path in arguments.paths for folder in _folders(path)]
    problems = [problem for folder in folders for problem in validate(folder)]
    wrong = [each for each in problems if arguments.strict or each.severity is Severity.ERROR]
    if arguments.json:
        say_json({"skills": [*map(str, folders)], "problems": [*map(_problem_json, problems)]}, indent=2)
        return WRONG if wrong else 0
    for problem in problems:
        say(safe_line(str(problem)))
    count = f"{len(folders)} {'skill' if len(folders) == 1 else 'skills'}"
    complain(f"{count}, {len(problems)} {'problem' if len(problems) == 1 else 'problems'}.")
    return WRONG if wrong else 0


def _folders(path: str) -> tuple[Path, ...]:
    place = Path(path).expanduser()
    if not place.exists():
        raise UsageError(f"no folder at {path}")
    if not (found := skills_at(place)):
        raise UsageError(f"there is no SKILL.md in {path} or below")
    return found
