"""The baseline: a Textual program that only takes text."""

from textual.app import App, ComposeResult
from textual.widgets import TextArea


class Hello(App[None]):
    def compose(self) -> ComposeResult:
        yield TextArea()


if __name__ == "__main__":
    Hello().run()
