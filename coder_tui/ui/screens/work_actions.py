"""Keys of the session that look at what it works with: files, and commands in the background."""

from coder_tui.text.mentions import mention
from coder_tui.ui.screens.furnished import Furnished


class WorkActions(Furnished):
    """Part of a screen: another part makes the widgets. The lists are loaded when they are asked for."""

    def action_files(self, query: str = "") -> None:
        from coder_tui.ui.screens.files_picker import FilesScreen

        def edit(path: str) -> None:
            self.reader.open_place(path, 1, 1)

        picker = FilesScreen(self.chrome, self.composing.files, self._name_file, edit, query)
        self.app.push_screen(picker)

    def _name_file(self, path: str) -> None:
        """At the cursor, with a blank on both sides."""
        row, column = self.prompt.cursor_location
        before = self.prompt.document.get_line(row)[:column]
        gap = " " if before and not before[-1].isspace() else ""
        self.prompt.type_text(f"{gap}{mention(path)} ")
        self.set_focus(self.prompt)
