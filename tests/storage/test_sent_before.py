"""Messages sent in a folder are offered again in its other sessions."""

from pathlib import Path

from coder_tui.protocol.access import Mode
from coder_tui.protocol.messages import AssistantMessage, Attachment, UserMessage
from coder_tui.storage.store import Store
from coder_tui.storage.transcript import LONGEST_RECALLED


async def test_messages_of_the_folder_come_oldest_first_without_what_they_brought(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "sessions.db")
    for directory, texts in (("/here", ["one", "two"]), ("/there", ["other"]), ("/here", ["three \udc80"])):
        session = await store.sessions.create(directory, "m", Mode.ASK)
        for number, text in enumerate(texts):
            message = UserMessage(f"u{number}", text, (Attachment("p.png", "", "image/png", "QUJD"),))
            await store.messages.add(session.id, message)
            await store.messages.add(session.id, AssistantMessage(f"a{number}", "reply"))
    await store.messages.add(session.id, UserMessage("long", "x" * (LONGEST_RECALLED + 1)))
    await store.messages.add(session.id, UserMessage("check", "The check failed.", is_typed=False))
    await store.messages.add(session.id, UserMessage("key", "use sk-ant-api03-" + "a1B2" * 20))

    sent = await store.messages.sent_before("/here", 10)
    newest = await store.messages.sent_before("/here", 1)
    await store.close()

    assert sent[:2] == ("one", "two")
    assert "a1B2" not in sent[-1]
    assert newest == sent[-1:]
    assert not {"other", "The check failed."} & set(sent)
