"""Ways to change something: calls that would, were they let, and commands that do not look like it."""

from collections.abc import Iterator

Attempt = tuple[str, dict[str, object]]

_MODIFY = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n"
_CREATE = "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n"
_DELETE = "--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n"
_RENAME = "diff --git a/a.txt b/c.txt\nsimilarity index 100%\nrename from a.txt\nrename to c.txt\n"
_MODE = "diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n"


def _envelope(body: str) -> str:
    return f"*** Begin Patch\n{body}\n*** End Patch"


TOOLS: tuple[Attempt, ...] = (
    ("write", {"path": "new.txt", "content": "x"}),
    ("write", {"path": "deep/er/new.txt", "content": "x"}),
    ("create_file", {"path": "new.txt", "content": "x"}),
    ("create_file", {"path": "new.txt"}),
    ("mkdir", {"path": "folder"}),
    ("edit", {"path": "a.txt", "old_string": "one", "new_string": "two"}),
    ("edit", {"path": "a.txt", "old_string": "one", "new_string": "", "replace_all": True}),
    ("patch", {"patch": _MODIFY}),
    ("patch", {"patch": _CREATE}),
    ("patch", {"patch": _DELETE}),
    ("patch", {"patch": _RENAME}),
    ("patch", {"patch": _MODE}),
    ("apply_patch", {"patch": _envelope("*** Update File: a.txt\n@@\n-one\n+two")}),
    ("apply_patch", {"patch": _envelope("*** Add File: new.txt\n+new")}),
    ("apply_patch", {"patch": _envelope("*** Delete File: a.txt")}),
    ("apply_patch", {"patch": _envelope("*** Update File: a.txt\n*** Move to: c.txt\n@@\n-one\n+two")}),
    ("git_add", {"path": "untracked.txt"}),
    ("git_commit", {"message": "x"}),
)

ALIASES: tuple[Attempt, ...] = (
    ("write_file", {"file_path": "new.txt", "content": "x"}),
    ("edit_file_full_replace", {"uri": "new.txt", "content": "x"}),
    ("replace", {"file_path": "a.txt", "old_string": "one", "new_string": "two"}),
    ("edit_file_search_replace", {"path": "a.txt", "old_string": "one", "new_string": "two"}),
    ("search_replace", {"path": "a.txt", "old_string": "one", "new_string": "two"}),
    ("shell_exec", {"command": "touch new.txt"}),
    ("run_shell_command", {"command": "touch new.txt"}),
    ("shell", {"command": "touch new.txt"}),
    ("git_cmd", {"command": "git add untracked.txt"}),
    ("git_cmd", {"command": "git tag v1"}),
)

_COMMANDS = (
    "touch new.txt",
    "echo hi > new.txt",
    "echo hi >> a.txt",
    "echo hi >| a.txt",
    ": > a.txt",
    "cat a.txt > new.txt",
    "cat a.txt 2>&1 > new.txt",
    "tee new.txt < a.txt",
    "cp a.txt new.txt",
    "mv a.txt new.txt",
    "rm a.txt",
    "rm -rf .",
    "ln -s a.txt new.txt",
    "ln a.txt new.txt",
    "mkdir folder",
    "chmod 777 a.txt",
    "truncate -s 0 a.txt",
    "dd if=a.txt of=new.txt",
    "install a.txt new.txt",
    "sed -i s/one/two/ a.txt",
    "sed 's/one/two/w new.txt' a.txt",
    "sed -n '1w new.txt' a.txt",
    "sed -n '1e touch new.txt' a.txt",
    "awk 'BEGIN { print 1 > \"new.txt\" }'",
    "awk 'BEGIN { system(\"touch new.txt\") }'",
    "sort -o new.txt a.txt",
    "uniq a.txt new.txt",
    "split -l 1 a.txt part-",
    "find . -name a.txt -delete",
    "find . -name a.txt -exec rm {} +",
    "find . -fprintf new.txt x",
    "ls | tee new.txt",
    "ls | xargs touch new.txt",
    "ls; touch new.txt",
    "ls && touch new.txt",
    "false || touch new.txt",
    "ls & touch new.txt",
    "ls\ntouch new.txt",
    "echo $(touch new.txt)",
    "echo `touch new.txt`",
    "cat a.txt <<X\n$(touch new.txt)\nX",
    "X=$(touch new.txt) ls",
    "env touch new.txt",
    "timeout 5 touch new.txt",
    "nohup touch new.txt",
    "command touch new.txt",
    "sh -c 'touch new.txt'",
    "bash -c 'touch new.txt'",
    "eval touch new.txt",
    "trap 'touch new.txt' EXIT",
    "ls(){ touch new.txt; }; ls",
    "(cd sub && touch new.txt)",
    "cd sub && touch new.txt",
    "t=touch; $t new.txt",
    "to''uch new.txt",
    "python3 -c \"open('new.txt', 'w')\"",
    "python3 - <<'X'\nopen('new.txt', 'w')\nX",
    'perl -e \'open(F, ">", "new.txt")\'',
    "./run-me",
    ". ./run-me",
    "git add untracked.txt",
    "git commit -m x --allow-empty",
    "git checkout -b other",
    "git branch other",
    "git tag v1",
    "git stash -u",
    "git rm a.txt",
    "git mv a.txt c.txt",
    "git reset --hard",
    "git clean -fd",
    "git config user.name other",
    "git log --output=new.txt",
    "git diff --output=new.txt",
    "git -c alias.x='!touch new.txt' x",
    "git -c core.fsmonitor=./run-me status",
    "GIT_EXTERNAL_DIFF=./run-me git diff",
    "tar cf new.tar a.txt",
    "gzip a.txt",
    "patch -p1 < change.diff",
)


def commands() -> Iterator[Attempt]:
    for command in _COMMANDS:
        yield "bash", {"command": command}
    yield "bash", {"command": "sleep 0.1; touch new.txt", "background": True}
    yield "bash", {"command": "touch new.txt", "description": "only reads"}


ATTEMPTS: tuple[Attempt, ...] = (*TOOLS, *ALIASES, *commands())
