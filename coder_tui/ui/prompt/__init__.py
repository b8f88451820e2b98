"""The input field: text, chips for pasted text and files, history, completion.

Enter at `prompt.py`. Sending what was typed belongs to `ui.session`.
"""
