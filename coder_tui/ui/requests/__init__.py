"""Dialogs in which the user answers: approval, plan, questions, trust.

`presenter.py` decides when a dialog may appear, `key_guard.py` which key may answer it,
`guarded_screen.py` is the base of all of them. What may be asked is decided by `agent.calls`.
"""
