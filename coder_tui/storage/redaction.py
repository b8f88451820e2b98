"""Removes secrets before anything is stored: the store outlives a session, is copied and exported."""

from dataclasses import replace
from typing import assert_never

from coder_tui.protocol.display import DisplayBlock
from coder_tui.protocol.messages import (
    AssistantMessage,
    Attachment,
    Message,
    ThinkingBlock,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from coder_tui.protocol.todos import TodoItem
from coder_tui.storage.database import Database, Table
from coder_tui.storage.records import CallRecord, DecisionRecord, FinishedCall
from coder_tui.text.redact import Redactor, map_texts


class Redaction:
    """Returns each value without secrets; ids are unchanged, because others refer to them."""

    def __init__(self, redact: Redactor) -> None:
        self.text = redact
        self.json_text = redact.json_text

    def message(self, message: Message) -> Message:
        match message:
            case UserMessage():
                attachments = tuple(map(self._attachment, message.attachments))
                return replace(message, text=self.text(message.text), attachments=attachments)
            case AssistantMessage():
                thinking = tuple(map(self._thinking, message.thinking))
                calls = tuple(map(self._call, message.calls))
                return replace(message, text=self.text(message.text), thinking=thinking, calls=calls)
            case ToolMessage():
                return self._tool_message(message)
            case never:
                assert_never(never)

    def _tool_message(self, message: ToolMessage) -> ToolMessage:
        attachments = tuple(map(self._attachment, message.attachments))
        return replace(message, content=self.json_text(message.content), attachments=attachments)

    def record(self, call: CallRecord) -> CallRecord:
        return replace(call, arguments=self.json_text(call.arguments), summary=self.text(call.summary))

    def finished(self, call: FinishedCall) -> FinishedCall:
        message, display = self._tool_message(call.message), self.display(call.display)
        return replace(call, summary=self.text(call.summary), display=display, message=message)

    def decision(self, decision: DecisionRecord) -> DecisionRecord:
        return replace(map_texts(decision, self.text), call_id=decision.call_id)

    def display(self, block: DisplayBlock) -> DisplayBlock:
        return map_texts(block, self.text)

    def todos(self, items: tuple[TodoItem, ...]) -> tuple[TodoItem, ...]:
        return tuple(replace(item, content=self.text(item.content)) for item in items)

    def _attachment(self, attachment: Attachment) -> Attachment:
        return replace(attachment, label=self.text(attachment.label), text=self.text(attachment.text))

    def _call(self, call: ToolCall) -> ToolCall:
        return replace(call, arguments=self.json_text(call.arguments))

    def _thinking(self, block: ThinkingBlock) -> ThinkingBlock:
        clean = self.text(block.text)
        # A signature is valid only for the exact text: a redacted block is kept for the user only.
        return block if clean == block.text else ThinkingBlock(clean)


class RedactedTable(Table):
    """A part of the store that removes secrets from what it is given."""

    def __init__(self, database: Database, redaction: Redaction) -> None:
        super().__init__(database)
        self._redaction = redaction
