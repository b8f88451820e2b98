"""A name in a message brings its content to the model, by the rules of reading."""

import asyncio
import base64
from collections.abc import Callable
from pathlib import Path

import pytest

from coder_tui.agent.attachments.files import MOST_FILES, MOST_TEXT, Attachments, message_events
from coder_tui.agent.calls.log import NoLog
from coder_tui.agent.calls.permissions import Permissions
from coder_tui.agent.event_bus import EventBus, RequestBroker
from coder_tui.policy.decide import Policy
from coder_tui.policy.paths import Boundaries
from coder_tui.policy.rules import Effect, Layer, Rule
from coder_tui.protocol.events import Event, Notice, RequestOpened, UserMessageAdded
from coder_tui.protocol.messages import Attachment, UserMessage
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.protocol.requests import ApprovalReply, Decision, Grant
from coder_tui.text.redact import BY_SHAPE
from coder_tui.tools.builtin.read import ReadTool
from coder_tui.workspace.files.confine import Workspace
from coder_tui.workspace.files.text import ReadLedger

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAADklEQVR4nGNgYGBAxwAAFAABx0mWugAAAABJRU5ErkJggg=="
)
NO_RULES: tuple[Layer, ...] = ()


class NoGrants:
    """For answers that allow a file once only."""

    async def save(self, grant: Grant) -> str:
        raise NotImplementedError


class AttachmentBench:
    """Attachments over a real folder; `answer` is given to every request."""

    def __init__(self, folder: Path, layers: tuple[Layer, ...] = NO_RULES, model: str = "claude-4") -> None:
        self.notices: list[str] = []
        self.asked: list[str] = []
        self.answer = ApprovalReply(Decision.ALLOW_ONCE)
        self.ledger = ReadLedger()
        bus = EventBus()
        broker = RequestBroker(bus)
        bus.subscribe(self._answer_with(broker.answer))
        policy = Policy(Boundaries((str(folder),)), layers=layers)
        permissions = Permissions(policy, broker, NoLog(), NoGrants(), self.notify)
        workspace = Workspace(folder)
        read = ReadTool(workspace, self.ledger)
        self.attach = Attachments(read, workspace, permissions, BY_SHAPE, lambda: model, self.notify).attach

    def notify(self, level: NoticeLevel, text: str) -> None:
        self.notices.append(text)

    def _answer_with(self, answer: Callable[[str, ApprovalReply], object]) -> Callable[[Event], None]:
        def hear(event: Event) -> None:
            if isinstance(event, RequestOpened):
                self.asked.append(event.request.summary)
                asyncio.get_running_loop().call_soon(answer, event.request.id, self.answer)

        return hear


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = (tmp_path / "project").resolve()
    root.mkdir()
    (root / "calc.py").write_text("".join(f"line {n}\n" for n in range(1, 31)))
    (root / ".env").write_text("TOKEN=1\n")
    (root / "shot.png").write_bytes(PNG)
    (root.parent / "outside.txt").write_text("elsewhere")
    return root


async def test_a_file_comes_whole_and_a_range_alone(folder: Path) -> None:
    bench = AttachmentBench(folder)
    whole, part = await bench.attach("compare @calc.py with @calc.py:10-11.")
    assert whole.label == "calc.py"
    assert whole.text.splitlines()[0::29] == ["line 1", "line 30"]
    assert part == Attachment("calc.py:10-11", "line 10\nline 11")
    assert (bench.notices, bench.asked) == ([], [])


async def test_a_folder_brings_its_listing(folder: Path) -> None:
    (attachment,) = await AttachmentBench(folder).attach("what is in @./ ?")
    assert "calc.py" in attachment.text.splitlines()


@pytest.mark.parametrize("text", ["thanks @bob", "@property is a decorator", "me@calc.py", "no name"])
async def test_a_name_that_leads_nowhere_is_a_word(folder: Path, text: str) -> None:
    bench = AttachmentBench(folder)
    assert (await bench.attach(text), bench.notices) == ((), [])


async def test_the_same_name_comes_once(folder: Path) -> None:
    assert len(await AttachmentBench(folder).attach("@calc.py, @calc.py and @calc.py")) == 1


async def test_a_secret_is_asked_about_and_not_sent_when_refused(folder: Path) -> None:
    bench = AttachmentBench(folder)
    assert await bench.attach("use @.env") == (Attachment(".env", "TOKEN=1"),)
    bench.answer = ApprovalReply(Decision.DENY)
    (refused,) = await bench.attach("use @.env")
    assert refused == Attachment(".env", "(not attached: the user refused this call)")
    assert bench.asked == [".env", ".env"]


async def test_what_a_rule_denies_is_not_sent_and_said(folder: Path) -> None:
    layer = Layer("user", (Rule("read", "calc.py", Effect.DENY, "settings"),))
    bench = AttachmentBench(folder, (layer,))
    (attachment,) = await bench.attach("@calc.py")
    assert "not attached: permission denied" in attachment.text
    assert bench.notices[0].startswith("@calc.py is not attached: permission denied")


async def test_what_lies_outside_is_refused_with_a_hint(folder: Path) -> None:
    bench = AttachmentBench(folder)
    (attachment,) = await bench.attach("see @../outside.txt")
    assert "elsewhere" not in attachment.text
    assert bench.notices == [
        "@../outside.txt is not attached: it is outside the workspace. "
        "Add its folder with --add-dir or workspace.extra_roots."
    ]
    assert bench.asked == []


async def test_a_long_file_is_cut_and_says_where_to_go_on(folder: Path) -> None:
    (folder / "long.txt").write_text("".join(f"{n}\n" for n in range(1, 5_000)))
    (attachment,) = await AttachmentBench(folder).attach("@long.txt")
    assert attachment.text.splitlines()[-2:] == ["2000", "(cut here; read goes on with offset 2001)"]


async def test_a_file_of_long_lines_stays_within_the_limit(folder: Path) -> None:
    (folder / "wide.txt").write_text("".join("x" * 1_500 + "\n" for _ in range(500)))
    (attachment,) = await AttachmentBench(folder).attach("@wide.txt")
    assert len(attachment.text) < 110_000
    assert "(cut here" in attachment.text


async def test_a_file_that_was_attached_counts_as_read(folder: Path) -> None:
    bench = AttachmentBench(folder)
    await bench.attach("@calc.py")
    assert bench.ledger.has_changed(folder / "calc.py", "another digest")


async def test_a_picture_goes_to_a_model_that_sees(folder: Path) -> None:
    (attachment,) = await AttachmentBench(folder).attach("look: @shot.png")
    assert attachment == Attachment("shot.png", "image/png 2×3", "image/png", base64.b64encode(PNG).decode())


async def test_a_model_that_does_not_see_gets_a_word_and_the_user_is_reported(folder: Path) -> None:
    bench = AttachmentBench(folder, model="gpt-3.5")
    (attachment,) = await bench.attach("@shot.png")
    assert attachment.data == ""
    assert bench.notices == ["@shot.png is not attached: it is a picture, and gpt-3.5 does not see pictures."]


async def test_a_picture_from_elsewhere_is_asked_about(folder: Path) -> None:
    (folder.parent / "bench.png").write_bytes(PNG)
    bench = AttachmentBench(folder)
    (attachment,) = await bench.attach(f"@{folder.parent}/bench.png")
    assert attachment.media_type == "image/png"
    assert len(bench.asked) == 1


async def test_names_deep_in_a_paste_are_not_looked_for(folder: Path) -> None:
    assert await AttachmentBench(folder).attach("x" * MOST_TEXT + " @calc.py") == ()


async def test_no_more_than_a_few_go_along(folder: Path) -> None:
    for number in range(MOST_FILES + 5):
        (folder / f"f{number}").write_text("x")
    bench = AttachmentBench(folder)
    attached = await bench.attach(" ".join(f"@f{number}" for number in range(MOST_FILES + 5)))
    assert len(attached) == MOST_FILES
    assert bench.notices == [f"Only the first {MOST_FILES} of {MOST_FILES + 5} are attached."]


def test_what_went_along_is_reported_with_the_size_of_pictures() -> None:
    attachments = (
        Attachment("a.py", "x = 1"),
        Attachment("shot.png", "image/png 2×3", "image/png", "QUJD"),
        Attachment(".env", "(not attached: the user refused this call)"),
    )
    assert list(message_events(UserMessage("m", "see", attachments))) == [
        UserMessageAdded("m", "see"),
        Notice(NoticeLevel.INFO, "Attached for the model: a.py, shot.png (image/png 2×3)"),
    ]
