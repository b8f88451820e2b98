"""Gates for text: nothing unsafe reaches the terminal, and no secret leaves the program.

Start at `safe_text.py` for what is shown, and at `redact.py` for what leaves.
"""
