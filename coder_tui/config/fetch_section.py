"""Settings of the way to the web."""

from typing import Annotated

from pydantic import AfterValidator

from coder_tui.config.section import Section


def _exact_host(host: str) -> str:
    if not host or any(char in host for char in "*/?#@ ") or "://" in host:
        raise ValueError("must be one exact host, such as git.example.org")
    return host.lower().removesuffix(".")


class FetchSection(Section):
    """Of the hosts in `insecure_hosts` the certificate is not checked; a project must never set them."""

    proxy: str = ""
    ca_bundle: str = ""
    insecure_hosts: tuple[Annotated[str, AfterValidator(_exact_host)], ...] = ()
