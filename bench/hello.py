"""The floor: a Textual program that does nothing but take text."""

from textual.app import App, ComposeResult
from textual.widgets import TextArea


class Hello(App[None]):
    def compose(self) -> ComposeResult:
        yield TextArea()


if __name__ == "__main__":
    Hello().run()
