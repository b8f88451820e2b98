"""Settings of the web are checked when they are read."""

import pytest

from coder_tui.config.settings import load_settings
from coder_tui.config.sources import Sources
from coder_tui.protocol.errors import ConfigError


def test_hosts_without_a_check_are_exact_ones() -> None:
    settings = load_settings(Sources(flags={"fetch": {"insecure_hosts": ["Git.Example.ORG.", "10.0.0.3"]}}))
    assert settings.fetch.insecure_hosts == ("git.example.org", "10.0.0.3")


@pytest.mark.parametrize("host", ["*", "*.example.org", "https://example.org", "a/b", "u@h", ""])
def test_a_pattern_of_hosts_is_refused(host: str) -> None:
    with pytest.raises(ConfigError, match="one exact host"):
        load_settings(Sources(flags={"fetch": {"insecure_hosts": [host]}}))


@pytest.mark.parametrize("url", ["api.example", "ftp://api.example", "https://key@api.example", ""])
def test_the_search_service_needs_a_web_address(url: str) -> None:
    with pytest.raises(ConfigError, match="websearch"):
        load_settings(Sources(flags={"websearch": {"base_url": url}}))


def test_a_misspelled_key_is_named() -> None:
    with pytest.raises(ConfigError, match="insecure_hosts"):
        load_settings(Sources(flags={"fetch": {"insecure_host": []}}))
