"""What a caller proves itself with, kept apart so that it goes to one origin only."""

import base64
from dataclasses import dataclass, field
from enum import StrEnum


class AuthType(StrEnum):
    BASIC = "basic"
    BEARER = "bearer"
    COOKIE = "cookie"


@dataclass(frozen=True, slots=True)
class Credentials:
    """The secrets stay out of the representation, and so out of logs."""

    type: AuthType
    user: str = ""
    secret: str = field(default="", repr=False)

    def header(self) -> tuple[str, str]:
        match self.type:
            case AuthType.BASIC:
                pair = f"{self.user}:{self.secret}".encode()
                return "Authorization", f"Basic {base64.b64encode(pair).decode('ascii')}"
            case AuthType.BEARER:
                return "Authorization", f"Bearer {self.secret}"
            case AuthType.COOKIE:
                return "Cookie", self.secret
