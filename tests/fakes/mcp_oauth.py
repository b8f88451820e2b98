"""An MCP server over HTTP that wants a login, and the place where one logs in, on one loopback port."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

TOKEN = "a-token-that-nobody-must-see"


@dataclass
class OAuthServer:
    address: str
    registered: list[dict[str, Any]] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    logins_at: str = ""
    """Where it says that one logs in, if not here."""
    token_at: str = ""
    """Where it says that a code becomes a token, if not here."""

    @property
    def url(self) -> str:
        return f"{self.address}/mcp"


def _answer(method: str) -> dict[str, Any] | None:
    match method:
        case "initialize":
            info = {"name": "hosted", "version": "1"}
            return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            return {"tools": [{"name": "hello", "inputSchema": {"type": "object"}}]}
    return None


class _Handler(BaseHTTPRequestHandler):
    known: OAuthServer

    def log_message(self, format: str, *args: object) -> None:
        """Quietly."""

    def do_GET(self) -> None:
        here, base = urlsplit(self.path), self.known.address
        if here.path.startswith("/.well-known/oauth-protected-resource"):
            self._json({"resource": self.known.url, "authorization_servers": [self.known.logins_at or base]})
        elif here.path.startswith("/.well-known/oauth-authorization-server"):
            places = {
                "token_endpoint": self.known.token_at or f"{base}/token",
                "authorization_endpoint": f"{base}/authorize",
                "registration_endpoint": f"{base}/register",
            }
            self._json(
                {
                    "issuer": base,
                    **places,
                    "response_types_supported": ["code"],
                    "code_challenge_methods_supported": ["S256"],
                }
            )
        elif here.path == "/authorize":
            asked = {key: values[0] for key, values in parse_qs(here.query).items()}
            back = f"{asked['redirect_uri']}?{urlencode({'code': 'a-code', 'state': asked['state']})}"
            self.send_response(302)
            self.send_header("Location", back)
            self.end_headers()
        else:
            self.send_error(405 if here.path == "/mcp" else 404)

    def do_DELETE(self) -> None:
        self.send_error(405)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        match urlsplit(self.path).path:
            case "/register":
                given = json.loads(body)
                self.known.registered.append(given)
                self._json({**given, "client_id": "a-client"}, 201)
            case "/token":
                self.known.codes.append(parse_qs(body).get("code", [""])[0])
                self._json({"access_token": TOKEN, "token_type": "Bearer", "expires_in": 3600})
            case "/mcp":
                self._mcp(json.loads(body))
            case _:
                self.send_error(404)

    def _mcp(self, message: dict[str, Any]) -> None:
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self.send_response(401)
            place = f"{self.known.address}/.well-known/oauth-protected-resource/mcp"
            self.send_header("WWW-Authenticate", f'Bearer resource_metadata="{place}"')
            self.end_headers()
            return
        if "id" not in message:
            self.send_response(202)
            self.end_headers()
            return
        result = _answer(message["method"])
        end = {"result": result} if result else {"error": {"code": -32601, "message": "unknown"}}
        self._json({"jsonrpc": "2.0", "id": message["id"], **end})

    def _json(self, value: object, status: int = 200) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def oauth_server() -> Iterator[OAuthServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    known = OAuthServer(f"http://127.0.0.1:{server.server_address[1]}")
    _Handler.known = known
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield known
    server.shutdown()
    thread.join()
    server.server_close()
