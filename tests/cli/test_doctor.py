"""`coder-tui doctor --report` with its own logs, settings and folders."""

import zipfile
from pathlib import Path

import pytest

from coder_tui.cli.doctor import main
from coder_tui.config.paths import CACHE_VARIABLE, CONFIG_VARIABLE, DATA_VARIABLE
from coder_tui.protocol.errors import UsageError

KNOWN = "zebra-quilt-4471-lantern"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable in (CONFIG_VARIABLE, DATA_VARIABLE, CACHE_VARIABLE):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    monkeypatch.chdir(tmp_path)
    (tmp_path / CONFIG_VARIABLE).mkdir()
    (tmp_path / CONFIG_VARIABLE / "config.toml").write_text('[bash]\nsandbox = "off"\n')
    return tmp_path / DATA_VARIABLE


def test_a_report_has_findings_settings_and_logs_without_secrets(data: Path) -> None:
    log = data / "log"
    log.mkdir(parents=True)
    (log / "coder-tui.log").write_text(
        "it failed with token=sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789\n"
    )
    (log / "lsp.log.1").write_text("x" * 3_000_000 + "\nthe end\n")
    (log / "coder-tui.log.2").symlink_to(data.parent / "elsewhere")
    (data.parent / "elsewhere").write_text(KNOWN)
    assert main(["--report", "--output", "r.zip"]) == 0
    with zipfile.ZipFile("r.zip") as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    assert list(texts) == ["doctor.txt", "settings.txt", "log/coder-tui.log", "log/lsp.log.1"]
    assert texts["doctor.txt"].startswith("✓ coder-tui")
    assert "bash.sandbox" in texts["settings.txt"]
    assert texts["settings.txt"].count("\n") == 1
    assert "[redacted]" in texts["log/coder-tui.log"]
    assert "abcdefghijkl" not in texts["log/coder-tui.log"]
    assert texts["log/lsp.log.1"] == "the end\n"
    assert Path("r.zip").stat().st_mode & 0o777 == 0o600


def test_a_report_is_written_although_the_settings_cannot_be_read(data: Path) -> None:
    (data.parent / CONFIG_VARIABLE / "config.toml").write_text("[bash")
    (data / "log").mkdir(parents=True)
    (data / "log" / "coder-tui.log").write_text("it failed\n")
    assert main(["--report", "-o", "r.zip"]) == 0
    with zipfile.ZipFile("r.zip") as archive:
        assert archive.namelist() == ["doctor.txt", "log/coder-tui.log"]
        assert "config.toml" in archive.read("doctor.txt").decode()


def test_a_report_replaces_no_file(data: Path) -> None:
    Path("r.zip").write_text("mine")
    with pytest.raises(UsageError, match=r"r\.zip already exists"):
        main(["--report", "-o", "r.zip"])
    assert Path("r.zip").read_text() == "mine"
