"""The program's own errors, by who can fix them: the model or the user."""

from dataclasses import dataclass, field
from enum import StrEnum

REFUSED = "the user refused this call"
"""How the message of a refusal begins. The user's comment may follow after a colon."""
STOPPED = "the user stopped this call"


class ErrorType(StrEnum):
    """The error types of the tool contract. Models and tests rely on them."""

    UNKNOWN_TOOL = "unknown_tool"
    INVALID_TOOL_PARAMS = "invalid_tool_params"
    PERMISSION_DENIED = "permission_denied"
    DENIED_BY_USER = "denied_by_user"
    FILE_NOT_FOUND = "file_not_found"
    NOT_A_FILE = "not_a_file"
    BINARY_FILE = "binary_file"
    ALREADY_EXISTS = "already_exists"
    AMBIGUOUS_MATCH = "ambiguous_match"
    NO_MATCH = "no_match"
    CONTEXT_MISMATCH = "context_mismatch"
    ALREADY_APPLIED = "already_applied"
    STALE_FILE = "stale_file"
    EXECUTION_FAILED = "execution_failed"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    TOO_LARGE = "too_large"
    NOT_INSTALLED = "not_installed"
    NOT_A_REPOSITORY = "not_a_repository"
    NETWORK_ERROR = "network_error"
    MCP_ERROR = "mcp_error"
    DISCOVERED_TOOL_ERROR = "discovered_tool_error"
    INTERNAL = "internal"


class ToolError(Exception):
    """An error that the model can fix. `fields` are added next to the error in the JSON result."""

    def __init__(
        self, type: ErrorType, message: str, hint: str = "", fields: dict[str, object] | None = None
    ) -> None:
        super().__init__(message)
        self.type = type
        self.message = message
        self.hint = hint
        self.fields = fields or {}


class UserError(Exception):
    """An error that the user can fix: one sentence, printed without a traceback."""

    exit_code = 1


class MessageRefusedError(UserError):
    """A message is not sent, and the text says why. The user keeps what they typed."""


class UsageError(UserError):
    """The command line is invalid."""

    exit_code = 2


class ConfigError(UsageError):
    """A settings file, variable or flag is wrong. The message says where."""


class NoModelError(UserError):
    """No model is available. The message says how to get one."""


class StorageError(UserError):
    """The store cannot be opened or written."""


class ModelErrorKind(StrEnum):
    NO_KEY = "no_key"
    BAD_KEY = "bad_key"
    NO_MODEL = "no_model"
    REFUSED = "refused"
    RATE_LIMIT = "rate_limit"
    SERVER = "server"
    OVERFLOW = "overflow"
    CUT = "cut"
    GARBAGE = "garbage"
    IDLE = "idle"
    HOST_DIED = "host_died"
    BAD_REQUEST = "bad_request"


@dataclass
class ModelError(Exception):
    """A model call failed. `message` and `hint` are for the user.

    `window` is the provider's limit in tokens, if it refused a longer request.
    """

    kind: ModelErrorKind
    message: str
    hint: str = ""
    retry_after: float | None = field(default=None)
    window: int | None = field(default=None)

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()

    @property
    def is_retryable(self) -> bool:
        return self.kind in {
            ModelErrorKind.RATE_LIMIT,
            ModelErrorKind.SERVER,
            ModelErrorKind.REFUSED,
            ModelErrorKind.CUT,
            ModelErrorKind.GARBAGE,
            ModelErrorKind.IDLE,
        }
