"""The environment and the caches of commands."""

from pathlib import Path

from coder_tui.shell.environment import cache_variables, clean_environment


def test_secrets_and_start_files_stay_out() -> None:
    environment = {
        "PATH": "/bin",
        "OPENAI_API_KEY": "k",
        "github_token": "t",
        "DB_PASSWORD": "p",
        "MY_SECRET_THING": "s",
        "GH_PAT": "p",
        "SESSION_COOKIE": "c",
        "MYSQL_PWD": "p",
        "REDISCLI_AUTH": "p",
        "BASH_ENV": "/tmp/x",
        "ENV": "/tmp/x",
        "BASH_FUNC_ls%%": "() { evil; }",
        "LANG": "C",
        "XPATH": "y",
        "OLDPWD": "/",
        "SSH_AUTH_SOCK": "/run/x",
    }

    assert clean_environment(environment) == {
        "PATH": "/bin",
        "LANG": "C",
        "XPATH": "y",
        "OLDPWD": "/",
        "SSH_AUTH_SOCK": "/run/x",
    }


def test_programs_are_not_searched_in_the_current_folder() -> None:
    assert clean_environment({"PATH": ".:/usr/bin::bin:/bin:"}) == {"PATH": "/usr/bin:/bin"}


def test_variables_that_the_user_passes_get_through_but_never_start_files() -> None:
    environment = {"CI_TOKEN": "t", "OTHER_TOKEN": "t", "BASH_ENV": "/tmp/x"}

    assert clean_environment(environment, ("CI_TOKEN", "BASH_ENV")) == {"CI_TOKEN": "t"}


def test_what_was_downloaded_at_home_is_used_until_a_command_has_fetched_something(tmp_path: Path) -> None:
    caches, home = tmp_path / "caches", tmp_path / "home"

    offline = cache_variables(caches, home, {}, network=False)
    fetching = cache_variables(caches, home, {}, network=True)
    (caches / "cargo").mkdir(parents=True)
    afterwards = cache_variables(caches, home, {}, network=False)

    assert "CARGO_HOME" not in offline
    assert fetching["CARGO_HOME"] == afterwards["CARGO_HOME"] == str(caches / "cargo")
    assert offline["npm_config_cache"] == str(caches / "npm")


def test_large_downloads_that_are_only_read_stay_where_they_are(tmp_path: Path) -> None:
    (tmp_path / ".cache" / "ms-playwright").mkdir(parents=True)

    found = cache_variables(tmp_path / "caches", tmp_path, {}, network=False)
    chosen = cache_variables(tmp_path / "caches", tmp_path, {"PLAYWRIGHT_BROWSERS_PATH": "x"}, network=False)

    assert found["PLAYWRIGHT_BROWSERS_PATH"] == str(tmp_path / ".cache" / "ms-playwright")
    assert "PLAYWRIGHT_BROWSERS_PATH" not in chosen
