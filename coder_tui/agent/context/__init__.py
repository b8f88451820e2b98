"""Keep the conversation within the model's context window.

`conversation.py` holds what was said and what of it is sent, `compaction.py` makes it shorter.
"""
