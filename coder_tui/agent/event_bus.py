"""Broadcasts the core's events to whoever listens: screen, printer, tests."""

from collections.abc import Callable

from coder_tui.protocol.events import Event

Listener = Callable[[Event], None]


class EventBus:
    """Synchronous and in order; listeners run in the core's event loop and must not block."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Returns the function that ends the subscription."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    def publish(self, event: Event) -> None:
        for listener in tuple(self._listeners):
            listener(event)
