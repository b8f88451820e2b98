"""A `SKILL.md` is read leniently; problems are reported with their line."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coder_tui.skills.skill import (
    LARGEST_FILE,
    Parsed,
    Problem,
    Severity,
    Skill,
    SkillSource,
    is_usable_name,
    parse_skill,
)

FOLDER = Path("/skills/release-notes")
FILE = FOLDER / "SKILL.md"


def parsed(text: str, folder: Path = FOLDER) -> Parsed:
    return parse_skill(text.encode(), folder, SkillSource.USER)


def flaws(text: str, folder: Path = FOLDER) -> list[tuple[str, int, str]]:
    return [(str(each.severity), each.line, each.message) for each in parsed(text, folder).problems]


def test_a_whole_skill() -> None:
    text = (
        "---\nname: release-notes\ndescription: >\n  Write notes.\n  Use before a release.\n"
        "license: MIT\nmetadata:\n  author: me\nallowed-tools: Read Grep\nargument-hint: TAG\n"
        "---\n\n# Notes\n\nGo.\n"
    )
    assert parsed(text) == Parsed(
        Skill(
            "release-notes",
            "Write notes. Use before a release.",
            "# Notes\n\nGo.",
            FOLDER,
            SkillSource.USER,
            argument_hint="TAG",
        )
    )


def test_a_value_with_a_colon_is_quoted_with_a_warning() -> None:
    result = parsed("---\nname: release-notes\ndescription: Use when: a release # soon\n---\nGo.")

    assert result.skill is not None
    assert result.skill.description == "Use when: a release # soon"
    assert [problem.severity for problem in result.problems] == [Severity.WARNING]


def test_line_ends_and_a_byte_order_mark_do_not_matter() -> None:
    text = "\ufeff---\r\nname: release-notes\r\ndescription: x\r\n---\r\nGo.\r\nOn.\r\n"
    skill = parsed(text).skill
    assert skill is not None
    assert skill.body == "Go.\nOn."


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("# Notes\n", 1, "there is no frontmatter: the file must start with a line ---"),
        ("---\nname: x\n", 1, "the frontmatter is not closed: a second line --- is missing"),
        ("---\nname: release-notes\n---\nGo.", 1, "there is no description, so the skill could not be found"),
        (
            "---\nname: release-notes\ndescription: ' '\n---\nGo.",
            3,
            "there is no description, so the skill could not be found",
        ),
        ("---\n- a\n- b\n---\n", 2, "the frontmatter must consist of fields, such as name: my-skill"),
        ("---\nname: a\nname: b\n---\n", 3, "the field name appears twice"),
        ("---\na: &a x\ndescription: *a\n---\n", 3, "aliases (*name) are not supported"),
    ],
)
def test_what_cannot_be_used_is_an_error_with_its_line(text: str, line: int, message: str) -> None:
    assert parsed(text) == Parsed(None, (Problem(Severity.ERROR, FILE, line, message),))


def test_broken_yaml_names_its_line() -> None:
    found = flaws("---\nname: release-notes\ndescription: [a, b\n---\nGo.")
    assert [(severity, line) for severity, line, _ in found] == [("error", 4)]
    assert found[0][2].startswith("not valid YAML: ")


def test_a_document_that_expands_without_end_is_refused() -> None:
    lines = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 'x'}]" for n in range(30)]
    assert flaws("---\n" + "\n".join(lines) + "\n---\n")[0][:2] == ("error", 3)


def test_deep_nesting_is_an_error_and_no_crash() -> None:
    assert flaws("---\na: " + "[" * 200 + "\n---\n")[0][0] == "error"


@pytest.mark.parametrize(
    ("head", "folder", "name", "message"),
    [
        ("name: other", "notes", "other", "the name other differs from the folder's name, notes"),
        (
            "name: ../../etc",
            "notes",
            "notes",
            "the name '../../etc' is not valid; the folder's name is used instead: notes",
        ),
        ("x: y", "notes", "notes", "there is no name; the folder's name is used instead: notes"),
    ],
)
def test_a_strange_name_is_a_warning(head: str, folder: str, name: str, message: str) -> None:
    result = parsed(f"---\n{head}\ndescription: x\n---\nGo.", Path("/skills") / folder)

    assert result.skill is not None
    assert result.skill.name == name
    assert [problem.message for problem in result.problems] == [message]


@pytest.mark.parametrize("name", ["Notes", "my_notes", "a--b", "n" * 65])
def test_a_name_that_breaks_the_format_is_used_with_a_warning(name: str) -> None:
    assert flaws(f"---\nname: {name}\ndescription: x\n---\nGo.", Path("/skills") / name) == [
        (
            "warning",
            2,
            f"the name {name} does not follow the format: "
            "use 1 to 64 characters of a-z, 0-9 and single hyphens",
        )
    ]


def test_no_usable_name_at_all_is_an_error() -> None:
    assert flaws("---\ndescription: x\n---\nGo.", Path("/skills/a b"))[0][0] == "error"


def test_too_long_texts_are_reported() -> None:
    description, body = "d" * 1_100, "line\n" * 501
    result = parsed(f"---\nname: release-notes\ndescription: {description}\n---\n{body}")

    assert result.skill is not None
    assert len(result.skill.description) == 1_024
    assert [(problem.line, problem.message) for problem in result.problems] == [
        (3, "the description has 1100 characters; only 1024 are used"),
        (5, "the body has 501 lines, more than 500; move parts to other files in the folder"),
    ]


def test_a_misspelt_field_names_the_nearest() -> None:
    assert flaws("---\nname: release-notes\ndescription: x\nlicence: MIT\n---\nGo.") == [
        ("warning", 4, "unknown field licence; did you mean license?")
    ]


def test_a_huge_file_and_undecodable_bytes_are_errors() -> None:
    huge = parse_skill(b"x" * (LARGEST_FILE + 1), FOLDER, SkillSource.USER)
    bytes_ = parse_skill(b"---\nname: x\n\xff\n---\n", FOLDER, SkillSource.USER)

    assert [problem.line for problem in (*huge.problems, *bytes_.problems)] == [0, 3]
    assert huge.skill is bytes_.skill is None


def test_a_skill_only_for_the_user() -> None:
    skill = parsed("---\nname: release-notes\ndescription: x\ndisable-model-invocation: true\n---\nGo.").skill
    assert skill is not None
    assert not skill.is_for_model


def test_brackets_without_end_are_refused_before_they_are_read() -> None:
    assert flaws("---\na: " + "[" * 15_000 + "\n---\n") == [
        ("error", 1, "the frontmatter has more than 200 opening brackets")
    ]


def _with_head(text: str) -> bytes:
    return f"---\nname: any\n{text}\ndescription: x\n---\nGo.\n".encode(errors="surrogatepass")


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=300).map(_with_head), st.binary(max_size=200)))
def test_any_bytes_give_a_skill_or_a_problem(data: bytes) -> None:
    result = parse_skill(data, Path("/skills/any"), SkillSource.USER)

    assert (result.skill is None) == any(each.severity is Severity.ERROR for each in result.problems)
    assert result.skill is None or is_usable_name(result.skill.name)
    assert all(0 <= problem.line <= data.count(b"\n") + 2 for problem in result.problems)
