"""Build sessions: the composition root, where settings, store, model, tools and policy come together.

Enter at `open_session.py`; `session_factory.py` builds a session in one pass. What a session does belongs
to `agent`.
"""
