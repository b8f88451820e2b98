"""The full-screen front end; the only importer of Textual and Rich."""

import os
from importlib import import_module

# Textual reads its frame rate once, at import: after a frame its update timer sleeps one to two periods, and
# a key pressed meanwhile waits for it. Repaints stay on demand. Commands that we run do not get the variable.
_is_ours = "TEXTUAL_FPS" not in os.environ
if _is_ours:
    os.environ["TEXTUAL_FPS"] = "1000"

FRAMES_PER_SECOND: int = import_module("textual.constants").MAX_FPS

if _is_ours:
    del os.environ["TEXTUAL_FPS"]
