"""Settings of MCP servers, by name: what is started, what is spoken to, or a change of either."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from coder_tui.config.section import Section

Seconds = Annotated[float, Field(gt=0, le=3600)]
START_SECONDS = 60.0
CALL_SECONDS = 300.0


def _address(url: str) -> str:
    # What a variable stands for is not known here.
    if url and not url.startswith(("http://", "https://", "${")):
        raise ValueError("must begin with http:// or https://")
    return url


class McpServerSection(Section):
    """With neither `command` nor `url` it changes the server of that name, wherever that comes from.

    `${NAME}` in a text stands for a variable of the environment, `${NAME:-x}` for x where that is not set.
    """

    enabled: bool | None = None
    command: str | tuple[str, ...] = ""
    """A program, or a program and its first arguments."""
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)
    cwd: str = ""
    url: Annotated[str, AfterValidator(_address)] = ""
    transport: Literal["", "stdio", "http", "sse"] = ""
    headers: dict[str, str] = Field(default_factory=dict)
    start_timeout_sec: Seconds = START_SECONDS
    timeout_sec: Seconds = CALL_SECONDS
    include_tools: tuple[str, ...] = ()
    exclude_tools: tuple[str, ...] = ()
    sandbox: Literal["auto", "off"] = "auto"
    network: bool = True
    writable: tuple[str, ...] = ()
    """Folders that a confined server may write, below the workspace's where they are relative.

    Not the workspace itself, unless it is named: names that programs outside of the sandbox obey (`.git`,
    `.envrc`) cannot be kept free for as long as a server runs.
    """

    @property
    def argv(self) -> tuple[str, ...]:
        words = (self.command,) if isinstance(self.command, str) else self.command
        return (*(word for word in words if word), *self.args)

    @property
    def is_confined(self) -> bool:
        return bool(self.argv) and self.sandbox == "auto"

    @property
    def is_whole(self) -> bool:
        """Whether it says by itself where the server is."""
        return bool(self.argv or self.url)

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.argv and self.url:
            raise ValueError("has both command and url; a server has one of them")
        if self.args and not self.command:
            raise ValueError("has args and no command")
        if self.argv and self.transport in ("http", "sse"):
            raise ValueError(f"has a command, which is not spoken to by {self.transport}")
        if self.url and self.transport == "stdio":
            raise ValueError("has a url, which is not spoken to by stdio")
        return self


McpTable = dict[str, McpServerSection]
