"""Lines as files have them: each keeps its own end, and only a line feed ends one."""


def split_lines(text: str) -> list[str]:
    """Split at line feeds only, which each line keeps: form feeds and the like are text."""
    lines = text.split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def end_of(line: str) -> str:
    """Return CR LF, LF, or nothing for a last line without one."""
    if not line.endswith("\n"):
        return ""
    return "\r\n" if line.endswith("\r\n") else "\n"


def body_of(line: str) -> str:
    return line[: len(line) - len(end_of(line))]
