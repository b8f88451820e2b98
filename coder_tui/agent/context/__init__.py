"""Keep the conversation within the model's context window.

`conversation.py` holds what was said, `model_view.py` what of it is sent, `compaction.py` makes it shorter.
"""
