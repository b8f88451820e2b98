"""`coder-tui skill`: lists skills, creates one, and validates them."""

import argparse
from dataclasses import asdict
from pathlib import Path

from coder_tui.bootstrap.open_session import prepare
from coder_tui.bootstrap.setup import Setup
from coder_tui.bootstrap.toolset import build_policy, build_skills
from coder_tui.cli.arguments import Parser, add_common, make_parser, read_invocation
from coder_tui.cli.output import print_error, print_json, print_line
from coder_tui.config.paths import display_path
from coder_tui.config.project import SKILL_FOLDERS
from coder_tui.policy.decide import decide
from coder_tui.protocol.errors import UsageError
from coder_tui.shell.sandbox.sandbox import home_folder
from coder_tui.skills.authoring import SkillRow, new_skill, skill_report, skill_rows, skills_at, validate
from coder_tui.skills.session_skills import SessionSkills, open_nothing
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
    parser = make_parser("skill", "Manage skills: instructions that an agent loads when a task needs them.")
    commands = parser.add_subparsers(dest="action", required=True, metavar="list|new|validate")
    listing = commands.add_parser("list", help="list the skills that were found, and whether each is used")
    listing.switch("--json", "print JSON")
    add_common(listing)
    new = commands.add_parser("new", help="create a skill")
    new.add_argument("name", metavar="NAME", help="the name: a-z, 0-9 and single hyphens")
    new.add_argument("--description", default="", metavar="TEXT", help="what it does, and when to use it")
    place = new.add_mutually_exclusive_group()
    place.add_argument("--project", action="store_true", help="create it in this project, for everyone")
    place.add_argument("--path", metavar="DIR", help="create it in this folder")
    check = commands.add_parser("validate", help="check a skill, or all skills below a folder")
    check.add_argument("paths", nargs="+", metavar="PATH", help="a skill's folder, or a folder of skills")
    check.switch("--strict", "warnings count as errors")
    check.switch("--json", "print JSON")
    return parser


def _list(arguments: argparse.Namespace) -> int:
    skills = _find_skills(prepare(read_invocation(arguments)))
    if arguments.json:
        found = {
            "skills": [_row_json(row) for row in skill_rows(skills)],
            "problems": [_problem_json(problem) for problem in skills.found.problems],
        }
        print_json(found, indent=2)
        return 0
    for line in skill_report(skills):
        print_line(safe_line(line))
    return 0


def _find_skills(setup: Setup) -> SessionSkills:
    policy = build_policy(setup)
    return build_skills(setup, lambda action: decide(action, policy), open_nothing)


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
    print_line(f"Written: {display_path(file)}")
    print_line(f"Fill it in, then check it: coder-tui skill validate {display_path(file.parent)}")
    if arguments.project:
        print_line("It is used once you trust the project: coder-tui trust")
    return 0


def _validate(arguments: argparse.Namespace) -> int:
    folders = [folder for path in arguments.paths for folder in _folders(path)]
    problems = [problem for folder in folders for problem in validate(folder)]
    wrong = [each for each in problems if arguments.strict or each.severity is Severity.ERROR]
    if arguments.json:
        print_json({"skills": [*map(str, folders)], "problems": [*map(_problem_json, problems)]}, indent=2)
        return WRONG if wrong else 0
    for problem in problems:
        print_line(safe_line(str(problem)))
    count = f"{len(folders)} {'skill' if len(folders) == 1 else 'skills'}"
    print_error(f"{count}, {len(problems)} {'problem' if len(problems) == 1 else 'problems'}.")
    return WRONG if wrong else 0


def _folders(path: str) -> tuple[Path, ...]:
    place = Path(path).expanduser()
    if not place.exists():
        raise UsageError(f"there is no folder {path}")
    if not (found := skills_at(place)):
        raise UsageError(f"there is no SKILL.md in {path} or below")
    return found
