"""Pictures that somebody has looked at and accepted; `--snapshot-update` takes new ones, to be looked at."""

from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from tests.fakes.drawn_svg import svg
from tests.fakes.screens import Stage


class SvgExtension(SingleFileSnapshotExtension):
    """A file for each picture, to be opened in a browser."""

    file_extension = "svg"
    _write_mode = WriteMode.TEXT


def picture(s: Stage) -> str:
    return svg(s.app.screen._compositor.render_strips())
