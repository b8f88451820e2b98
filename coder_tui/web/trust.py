"""Whose certificates are believed: the usual authorities, the person's own, and no exception by default."""

import asyncio
import ssl
from collections.abc import Mapping
from pathlib import Path

from coder_tui.protocol.errors import ErrorType, ToolError

_FILE_VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_FOLDER_VARIABLE = "SSL_CERT_DIR"


class Trust:
    """`insecure_hosts` are taken without a check of who they are; only a person's own settings name them."""

    def __init__(self, ca_bundle: str, insecure_hosts: frozenset[str], environ: Mapping[str, str]) -> None:
        self._ca_bundle = ca_bundle
        self._insecure = frozenset(host.lower() for host in insecure_hosts)
        self._environ = environ
        self._checking: ssl.SSLContext | None = None

    def is_insecure(self, host: str) -> bool:
        return host in self._insecure

    async def context_for(self, host: str) -> ssl.SSLContext:
        if self.is_insecure(host):
            return _unchecked()
        if self._checking is None:
            # Reading the authorities takes a while, and a thread does no harm here.
            self._checking = await asyncio.to_thread(self._checked)
        return self._checking

    def _checked(self) -> ssl.SSLContext:
        import httpx  # only where it is needed: it takes a tenth of a second

        context = httpx.create_ssl_context(trust_env=False)
        context.load_default_certs()
        for name in _FILE_VARIABLES:
            if path := self._environ.get(name):
                _add(context, path, f"The variable {name} names it.")
        if folder := self._environ.get(_FOLDER_VARIABLE):
            context.load_verify_locations(capath=folder)
        if self._ca_bundle:
            path = str(Path(self._ca_bundle).expanduser())
            _add(context, path, "The setting fetch.ca_bundle names it.")
        return context


def _add(context: ssl.SSLContext, path: str, hint: str) -> None:
    try:
        if Path(path).is_dir():
            context.load_verify_locations(capath=path)
        else:
            context.load_verify_locations(cafile=path)
    except (OSError, ssl.SSLError) as error:
        message = f"The certificates in {path} cannot be read: {error.strerror or error}."
        raise ToolError(ErrorType.NETWORK_ERROR, message, hint) from error


def _unchecked() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
