"""The full-screen front end, by feature; the only importer of Textual and Rich.

Enter at `app.py`, then `session/screen.py`. What a session does belongs to `agent`.
"""

import gc
import os
from importlib import import_module

# A full collection stalls the loop for 20 to 40 ms, and with Python's own thresholds one falls into the first
# paint. What lives once the session is open lives until the end; the app then takes it out of the count.
gc.set_threshold(20_000, 50, 100)

# Textual reads its frame rate once, at import: after a frame its update timer sleeps one to two periods, and
# a key pressed then waits for it. Repaints stay on demand. Commands that we run do not get the variable.
_is_ours = "TEXTUAL_FPS" not in os.environ
if _is_ours:
    os.environ["TEXTUAL_FPS"] = "1000"

FRAMES_PER_SECOND: int = import_module("textual.constants").MAX_FPS

if _is_ours:
    del os.environ["TEXTUAL_FPS"]
