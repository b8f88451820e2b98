"""What others refer to comes first."""

from coder_tui.workspace.outline.map import rank, render_file, render_map
from coder_tui.workspace.outline.parse import FileSymbols, Symbol


def file(*names: str, uses: tuple[str, ...] = ()) -> FileSymbols:
    symbols = tuple(Symbol(name, f"def {name}()", line, 0) for line, name in enumerate(names, 1))
    return FileSymbols(symbols, tuple((name, 1) for name in uses))


PROJECT = {
    "core.py": file("open_store", "close_store"),
    "app.py": file("run_program", uses=("open_store", "parse_words")),
    "cli.py": file("main_entry", uses=("run_program", "open_store")),
    "words.py": file("parse_words", uses=("open_store",)),
    "alone.py": file("never_used"),
}


def test_a_much_used_file_ranks_before_an_unused_one() -> None:
    scores = rank(PROJECT).files

    assert max(scores, key=scores.__getitem__) == "core.py"
    assert scores["words.py"] > scores["alone.py"]
    assert abs(sum(scores.values()) - 1) < 1e-9


def test_a_used_name_ranks_before_an_unused_one() -> None:
    names = rank(PROJECT).names

    assert names["core.py", "open_store"] > 10 * names["core.py", "close_store"]


def test_names_of_another_language_are_not_meant() -> None:
    scores = rank(
        {"a.py": file("open_store"), "b.go": file(uses=("open_store",)), "c.py": file("other_name")}
    )

    assert scores.files["a.py"] == scores.files["c.py"]


def test_a_name_that_everybody_defines_says_nothing() -> None:
    many = {f"m{number}.py": file("setup_module") for number in range(20)}
    names = rank(many | {"user.py": file(uses=("setup_module",))}).names

    assert len({round(names[path, "setup_module"], 9) for path in many}) == 1


def test_tests_do_not_outweigh_the_program() -> None:
    project = {
        "test_a.py": file(uses=("test_helper",)),
        "main.py": file(uses=("real_service",)),
        "service.py": file("real_service"),
        "tests/helper.py": file("test_helper"),
    }
    scores = rank(project).files

    assert scores["service.py"] > scores["tests/helper.py"]


def test_nothing_can_be_ranked() -> None:
    assert render_map({}, rank({}), 100) == ""


def test_the_map_shows_the_best_within_its_budget() -> None:
    ranking = rank(PROJECT)

    whole = render_map(PROJECT, ranking, 10_000)
    small = render_map(PROJECT, ranking, 40)

    assert whole.split("\n") == [
        "core.py",
        "  1: def open_store()",
        "  2: def close_store()",
        "words.py",
        "  1: def parse_words()",
        "app.py",
        "  1: def run_program()",
        "alone.py",
        "  1: def never_used()",
        "cli.py",
        "  1: def main_entry()",
    ]
    assert small == "core.py\n  1: def open_store()\nwords.py\n… 3 more files"


def test_a_member_is_listed_under_its_class() -> None:
    files = {
        "a.py": FileSymbols(
            (
                Symbol("Engine", "class Engine", 1, 0),
                Symbol("idle_time", "def idle_time(self)", 2, 1),
                Symbol("start_engine", "def start_engine(self)", 3, 1),
            )
        ),
        "b.py": file(uses=("start_engine",)),
    }

    lines = render_map(files, rank(files), 55).split("\n")

    assert lines == ["a.py", "  1: class Engine", "    3: def start_engine(self)", "… 1 more files"]


def test_a_file_is_shown_to_the_depth_that_fits() -> None:
    symbols = FileSymbols(
        (
            Symbol("A", "class A", 1, 0),
            Symbol("f", "def f", 2, 1),
            Symbol("", "def g", 3, 2),
            Symbol("B", "class B", 4, 0),
        )
    )

    assert render_file(symbols, None, 1_000) == "1: class A\n  2: def f\n    3: def g\n4: class B"
    assert render_file(symbols, 2, 1_000) == "1: class A\n  2: def f\n4: class B"
    assert render_file(symbols, None, 30) == "1: class A\n4: class B"
    assert render_file(symbols, 1, 12) == "1: class A\n… 1 more symbols"
