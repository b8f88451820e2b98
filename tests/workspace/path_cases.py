"""Paths that try to escape, to hang or to write the wrong thing, and what must happen to each."""

import os
import socket
from dataclasses import dataclass
from pathlib import Path

SECRET = "MARKER-OF-WHAT-LIES-OUTSIDE"
OK, DENIED, INVALID = "ok", "permission_denied", "invalid_tool_params"
MISSING, NOT_A_FILE, STALE = "file_not_found", "not_a_file", "stale_file"
EXISTS, BINARY, FAILED = "already_exists", "binary_file", "execution_failed"

LONG = "n" * 300
WAY_TOO_LONG = "/".join(["d" * 200] * 30)

READS: dict[str, str] = {
    "a.txt": OK,
    "./a.txt": OK,
    "sub/../a.txt": OK,
    "{root}/a.txt": OK,
    "{root}/../ws/a.txt": OK,
    "//{root}/a.txt": OK,
    "sub/b.txt": OK,
    "link_file_in": OK,
    "link_folder_in/b.txt": OK,
    "link_self/a.txt": OK,
    "link_self/link_self/link_self/a.txt": OK,
    "link_parent/ws/a.txt": OK,
    "hard.txt": OK,
    "new\nline.txt": OK,
    " spaces .txt": OK,
    "-rf": OK,
    "sub": OK,
    ".": OK,
    "../out/secret.txt": DENIED,
    "sub/../../out/secret.txt": DENIED,
    "../../../../../../../../etc/passwd": DENIED,
    "/etc/passwd": DENIED,
    "{base}/out/secret.txt": DENIED,
    "{root}-evil/x.txt": DENIED,
    "../ws-evil/x.txt": DENIED,
    "{base}/w": DENIED,
    "{base}": DENIED,
    "/": DENIED,
    "..": DENIED,
    "~": DENIED,
    "~/.bashrc": DENIED,
    "link_file_out": DENIED,
    "link_folder_out/secret.txt": DENIED,
    "link_folder_out": DENIED,
    "link_absolute_out/secret.txt": DENIED,
    "link_parent/out/secret.txt": DENIED,
    "link_root/etc/passwd": DENIED,
    "chain_1/secret.txt": DENIED,
    "sub/link_up/../out/secret.txt": DENIED,
    "link_folder_out/../out/secret.txt": DENIED,
    "link_folder_out/missing": DENIED,
    "../missing": DENIED,
    "dangling_out": DENIED,
    "link_environ": DENIED,
    "link_process/environ": DENIED,
    "/proc/self/environ": DENIED,
    "/proc/1/environ": DENIED,
    "/proc/self/mem": DENIED,
    "/proc/self/root/etc/passwd": DENIED,
    "/proc/1/root/etc/passwd": DENIED,
    "/proc/self/cwd/../../etc/passwd": DENIED,
    "/proc/kmsg": DENIED,
    "/sys/kernel/notes": DENIED,
    "/dev/zero": NOT_A_FILE,
    "/dev/tty": NOT_A_FILE,
    "/dev/random": NOT_A_FILE,
    "link_zero": NOT_A_FILE,
    "pipe": NOT_A_FILE,
    "link_pipe": NOT_A_FILE,
    "socket": NOT_A_FILE,
    "loop_a": NOT_A_FILE,
    "loop_a/x": DENIED,
    "dangling_in": MISSING,
    "missing.txt": MISSING,
    "a.txt/x": MISSING,
    "a.txt/../a.txt": OK,
    "A.TXT": MISSING,
    "$HOME/x": MISSING,
    "~root/x": MISSING,
    "sub\\..\\a.txt": MISSING,
    "%2e%2e/out/secret.txt": MISSING,
    "\u2024\u2024/out/secret.txt": MISSING,
    "file://{base}/out/secret.txt": MISSING,
    "": INVALID,
    "a\0.txt": INVALID,
    "../out/secret.txt\0.png": INVALID,
    LONG: INVALID,
    WAY_TOO_LONG: MISSING,
    "caf\udcff.txt": OK,
    "half\ud800": INVALID,
    ".env": DENIED,
    "link_env": DENIED,
    "id_rsa": DENIED,
    "binary.bin": BINARY,
}

WRITES: dict[str, str] = {
    "made.txt": OK,
    "made/on/the/way.txt": OK,
    "made\nline.txt": OK,
    "link_folder_in/made.txt": OK,
    "dangling_in": OK,
    "a.txt": STALE,
    "link_file_in": STALE,
    "hard.txt": STALE,
    "../out/made.txt": DENIED,
    "{root}-evil/made.txt": DENIED,
    "/etc/made-by-a-test": DENIED,
    "~/made-by-a-test": DENIED,
    "link_file_out": DENIED,
    "link_folder_out/made.txt": DENIED,
    "link_absolute_out/made/deep.txt": DENIED,
    "link_parent/out/made.txt": DENIED,
    "link_root/tmp/made-by-a-test": DENIED,
    "chain_1/made.txt": DENIED,
    "dangling_out": DENIED,
    "link_folder_out/../out/made.txt": DENIED,
    ".git/config": DENIED,
    ".git/hooks/pre-commit": DENIED,
    ".GIT/config": DENIED,
    "sub/.Git/config": DENIED,
    ".coder-tui/config.toml": DENIED,
    ".Coder-TUI/config.toml": DENIED,
    ".env": DENIED,
    ".env.local": DENIED,
    "{base}/data/sessions.db": DENIED,
    "{base}/config/config.toml": DENIED,
    "/proc/self/oom_score_adj": DENIED,
    "/proc/self/fd/1": DENIED,
    "/sys/kernel/made": DENIED,
    "/dev/null": NOT_A_FILE,
    "link_zero": DENIED,
    "pipe": NOT_A_FILE,
    "socket": NOT_A_FILE,
    "sub": NOT_A_FILE,
    ".": NOT_A_FILE,
    "loop_a": DENIED,
    "a.txt/x": MISSING,
    "": INVALID,
    "a\0.txt": INVALID,
    LONG: INVALID,
    "binary.bin": BINARY,
}

EDITS: dict[str, str] = {
    "edited.txt": OK,
    "link_edited": OK,
    "readonly.txt": FAILED,
    "link_file_out": DENIED,
    "../out/secret.txt": DENIED,
    "link_folder_out/secret.txt": DENIED,
    "{root}-evil/x.txt": DENIED,
    "/proc/self/comm": DENIED,
    ".git/config": DENIED,
    "pipe": NOT_A_FILE,
    "sub": NOT_A_FILE,
    "missing.txt": MISSING,
}


@dataclass(frozen=True, slots=True)
class Case:
    tool: str
    path: str
    outcome: str
    more: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        shown = self.path if len(self.path) < 40 else f"{self.path[:20]}…{len(self.path)}"
        return f"{self.tool} {shown!a}"


CASES = (
    *(Case("read", path, outcome) for path, outcome in READS.items()),
    *(Case("write", path, outcome, (("content", "new\n"),)) for path, outcome in WRITES.items()),
    *(
        Case("edit", path, outcome, (("old_string", "old"), ("new_string", "new")))
        for path, outcome in EDITS.items()
    ),
    Case("create_file", "link_folder_out/made.txt", DENIED),
    Case("create_file", "dangling_out", DENIED),
    Case("create_file", "../out/made.txt", DENIED),
    Case("create_file", "a.txt", EXISTS),
    Case("mkdir", "link_folder_out/made", DENIED),
    Case("mkdir", "../out/made", DENIED),
    Case("mkdir", ".git/made", DENIED),
    Case("mkdir", "a.txt", EXISTS),
    Case("list", "link_folder_out", DENIED),
    Case("list", "..", DENIED),
    Case("list", "{root}-evil", DENIED),
    Case("list", "/proc/self", DENIED),
    Case("list", "link_self/link_self", OK),
    Case("grep", "link_folder_out", DENIED, (("pattern", SECRET),)),
    Case("grep", "..", DENIED, (("pattern", SECRET),)),
    Case("grep", "/proc/self", DENIED, (("pattern", "."),)),
    Case("grep", ".", OK, (("pattern", SECRET[:12]),)),
    Case("glob", "link_folder_out", DENIED, (("pattern", "*"),)),
    Case("glob", "..", DENIED, (("pattern", "**/secret.txt"),)),
    Case("glob", ".", INVALID, (("pattern", "../**"),)),
    Case("glob", ".", INVALID, (("pattern", "/etc/*"),)),
    Case("glob", ".", OK, (("pattern", "**/**/**/*"),)),
    Case("file_info", "../out/secret.txt", DENIED),
    Case("file_info", "link_file_out", DENIED),
    Case("file_info", "/proc/self/environ", DENIED),
    Case("file_info", "pipe", NOT_A_FILE),
    Case("read_around", "link_file_out", DENIED, (("keyword", SECRET[:6]),)),
    Case("read_around", "pipe", NOT_A_FILE, (("keyword", "x"),)),
)

PATCHED: dict[str, str] = {
    "patched.txt": OK,
    "../out/patched.txt": DENIED,
    "{root}-evil/patched.txt": DENIED,
    "/etc/patched-by-a-test": DENIED,
    "link_folder_out/patched.txt": DENIED,
    "dangling_out": DENIED,
    "chain_1/patched.txt": DENIED,
    ".git/hooks/patched": DENIED,
    ".GIT/patched": DENIED,
    ".coder-tui/config.toml": DENIED,
    "/proc/self/patched": DENIED,
}
"""Return the new files that a patch would create."""

LINKS = {
    "link_file_in": "sub/b.txt",
    "link_folder_in": "sub",
    "link_edited": "edited_by_link.txt",
    "link_self": ".",
    "link_parent": "..",
    "link_root": "/",
    "link_file_out": "../out/secret.txt",
    "link_folder_out": "../out",
    "link_absolute_out": "{base}/out",
    "link_environ": "/proc/self/environ",
    "link_process": "/proc/self",
    "link_zero": "/dev/zero",
    "link_pipe": "pipe",
    "link_env": ".env",
    "chain_1": "chain_2",
    "chain_2": "link_folder_out",
    "sub/link_up": "..",
    "loop_a": "loop_b",
    "loop_b": "loop_a",
    "dangling_in": "made_by_link.txt",
    "dangling_out": "../out/made_by_link.txt",
}
FILES = {
    "ws/a.txt": "inside\n",
    "ws/sub/b.txt": "inside\n",
    "ws/new\nline.txt": "inside\n",
    "ws/ spaces .txt": "inside\n",
    "ws/-rf": "inside\n",
    "ws/edited.txt": "old\n",
    "ws/edited_by_link.txt": "old\n",
    "ws/readonly.txt": "old\n",
    "ws/.env": f"KEY={SECRET}\n",
    "ws/id_rsa": f"{SECRET}\n",
    "ws/.git/config": "old\n",
    "ws/binary.bin": "\0\1\2",
    "ws-evil/x.txt": f"{SECRET} old\n",
    "w": f"{SECRET}\n",
    "out/secret.txt": f"{SECRET} old\n",
    "out/linked.txt": "a name inside, too\n",
}


def make_tree(base: Path) -> Path:
    """Create everything that the cases use under `base`; return the workspace."""
    root = base / "ws"
    for name, content in FILES.items():
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text(content)
    for name, target in LINKS.items():
        (root / name).symlink_to(target.format(base=base))
    os.link(base / "out/linked.txt", root / "hard.txt")
    (root / "readonly.txt").chmod(0o444)
    (root / os.fsdecode(b"caf\xff.txt")).write_text("inside\n")
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        # Bound by a short name, because the address of a socket has little room.
        before = Path.cwd()
        os.chdir(root)
        listener.bind("socket")
        os.chdir(before)
    return root
