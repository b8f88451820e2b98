"""When Python looks for garbage: a search stalls the screen, and before a session is open it finds none."""

import gc


def keep_what_lives() -> None:
    """What there is once the session is open lives until the end: take it out of all further searches."""
    gc.freeze()
    gc.enable()
