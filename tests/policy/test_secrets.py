"""Files with secrets are recognized by their names."""

import pytest

from coder_tui.policy.paths import is_secret, may_name_a_secret


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        "app/.env",
        ".env.local",
        ".env-prod",
        ".env_local",
        ".env.production",
        ".ENV",
        ".envrc",
        "id_rsa",
        "keys/id_ed25519",
        "deploy_id_rsa",
        "server.pem",
        "tls/server.key",
        "store.p12",
        "/home/me/.netrc",
        ".npmrc",
        ".pypirc",
        ".git-credentials",
        "/home/me/.aws/credentials",
        "/home/me/.ssh/work",
        "/home/me/.ssh/keys/work",
        "/home/me/.gnupg/private-keys-v1.d/x",
        "/home/me/.docker/config.json",
        "/home/me/.kube/config",
        "credentials.json",
    ],
)
def test_a_file_with_secrets_is_recognized(path: str) -> None:
    assert is_secret(path)


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        ".env.example",
        ".env.sample",
        ".env.template",
        "environment.py",
        ".environment",
        "id_rsa.pub",
        "/home/me/.ssh/id_rsa.pub",
        "/home/me/.ssh/known_hosts",
        "/home/me/.ssh/config",
        "key.py",
        "keyboard.md",
        "src/credentials.py",
        "pem/readme.md",
    ],
)
def test_a_harmless_file_is_not_recognized_as_one(path: str) -> None:
    assert not is_secret(path)


def test_a_line_break_in_brackets_does_not_hide_a_pattern() -> None:
    assert may_name_a_secret(".e[\nn]v")
    assert may_name_a_secret("id_[r\n]sa")
