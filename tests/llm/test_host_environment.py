"""The child gets what providers need, and nothing else."""

from coder_tui.llm.host_client import host_environment

LOOPBACK = "127.0.0.1,localhost,::1"


def test_only_what_providers_need_is_passed_on() -> None:
    kept = {
        "PATH": "/bin",
        "HOME": "/h",
        "OPENAI_API_KEY": "k",
        "AWS_SECRET_ACCESS_KEY": "k",
        "HTTPS_PROXY": "http://p:1",
        "https_proxy": "http://p:1",
        "SSL_CERT_FILE": "/ca.pem",
        "ANTHROPIC_BASE_URL": "http://b",
    }
    dropped = {
        "PYTHONPATH": "/evil",
        "PYTHONSTARTUP": "x",
        "LD_PRELOAD": "x",
        "SSH_AUTH_SOCK": "x",
        "MY_PASSWORD": "x",
    }
    assert host_environment({**kept, **dropped}) == {**kept, "NO_PROXY": LOOPBACK, "no_proxy": LOOPBACK}


def test_loopback_joins_what_is_already_exempt_from_the_proxy() -> None:
    made = host_environment({"no_proxy": "corp.example, localhost"})
    assert made == dict.fromkeys(("NO_PROXY", "no_proxy"), "corp.example,localhost,127.0.0.1,::1")


def test_no_proxy_at_all_stays_so() -> None:
    assert host_environment({"NO_PROXY": "*"}) == {"NO_PROXY": "*", "no_proxy": "*"}
