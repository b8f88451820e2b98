"""Which proxy a request goes through, as settings and the environment say.

Whose certificates are believed: the usual authorities, the person's own, and no exception by default.
"""

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import urlsplit

from coder_tui.policy.addresses import IpAddress, Reach, literal_address, reach_of_host
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.web.address import WebAddress

_SCHEMES = ("http", "https")


@dataclass(frozen=True, slots=True)
class Proxies:
    """`setting` goes before the environment; what is local never goes through either."""

    setting: str = ""
    environ: Mapping[str, str] = field(default_factory=dict)

    def for_address(self, address: WebAddress) -> str:
        """The proxy's URL, empty for a direct connection."""
        if reach_of_host(address.host) is Reach.LOOPBACK or self._is_exempt(address):
            return ""
        proxy = self.setting or self._variable(f"{address.scheme}_proxy") or self._variable("all_proxy")
        if not proxy:
            return ""
        return _checked(proxy if "://" in proxy else f"http://{proxy}")

    def _variable(self, name: str) -> str:
        if name == "http_proxy" and "REQUEST_METHOD" in self.environ:
            # In a CGI program HTTP_PROXY is what a client's header says.
            return self.environ.get(name, "")
        return self.environ.get(name) or self.environ.get(name.upper()) or ""

    def _is_exempt(self, address: WebAddress) -> bool:
        exempt = self._variable("no_proxy").replace(" ", ",").split(",")
        return any(_exempts(entry.lower(), address) for entry in exempt if entry)


def _exempts(entry: str, address: WebAddress) -> bool:
    literal = literal_address(address.host)
    if entry == "*" or entry in (address.host, f"{address.host}:{address.port}"):
        return True
    if literal is not None:
        return _is_in(literal, entry)
    host, _, port = entry.removeprefix("*").partition(":")
    if port and port != str(address.port):
        return False
    return address.host == host.lstrip(".") or address.host.endswith(f".{host.lstrip('.')}")


def _is_in(literal: IpAddress, entry: str) -> bool:
    try:
        return literal in ip_network(entry, strict=False)
    except ValueError:
        return False


def _checked(proxy: str) -> str:
    try:
        parts = urlsplit(proxy)
        is_usable = parts.scheme in _SCHEMES and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_usable = False
    if not is_usable:
        raise ToolError(
            ErrorType.NETWORK_ERROR,
            "The proxy that is set cannot be used: only http:// and https:// proxies are.",
            "The setting fetch.proxy or the variables HTTPS_PROXY, HTTP_PROXY and ALL_PROXY name it.",
        )
    return proxy


def shown_proxy(proxy: str) -> str:
    """Without the password that it may have."""
    parts = urlsplit(proxy)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}"


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
