"""What was sent in a folder can be called back in another session of it."""

from pathlib import Path

from coder_tui.protocol.access import Mode
from coder_tui.protocol.messages import AssistantMessage, Attachment, UserMessage
from coder_tui.storage.store import Store
from coder_tui.storage.transcript import LONGEST_RECALLED


async def test_messages_of_the_folder_come_oldest_first_without_what_they_brought(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "sessions.db")
    for directory, texts in (("/here", ["one", "two"]), ("/there", ["other"]), ("/here", ["three \udc80"])):
        session = await store.create_session(directory, "m", Mode.ASK)
        for number, text in enumerate(texts):
            message = UserMessage(f"u{number}", text, (Attachment("p.png", "", "image/png", "QUJD"),))
            await store.add_message(session.id, message)
            await store.add_message(session.id, AssistantMessage(f"a{number}", "reply"))
    await store.add_message(session.id, UserMessage("long", "x" * (LONGEST_RECALLED + 1)))
    await store.add_message(session.id, UserMessage("check", "The check failed.", is_typed=False))
    await store.add_message(session.id, UserMessage("key", "use sk-ant-api03-" + "a1B2" * 20))

    sent = await store.sent_before("/here", 10)
    newest = await store.sent_before("/here", 1)
    await store.close()

    assert sent[:2] == ("one", "two")
    assert "a1B2" not in sent[-1]
    assert newest == sent[-1:]
    assert not {"other", "The check failed."} & set(sent)
