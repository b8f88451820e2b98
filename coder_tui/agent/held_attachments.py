"""What goes to the model with the person's next message, whatever that will be."""

from coder_tui.protocol.messages import Attachment


class HeldAttachments:
    """Kept until a message that has them is stored."""

    def __init__(self) -> None:
        self._held: tuple[Attachment, ...] = ()

    @property
    def all(self) -> tuple[Attachment, ...]:
        return self._held

    def hold(self, attachment: Attachment) -> None:
        self._held = (*self._held, attachment)

    def forget(self, sent: tuple[Attachment, ...]) -> None:
        self._held = tuple(each for each in self._held if each not in sent)
