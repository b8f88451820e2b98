"""Show a diff side by side or in one column, with colors, folding and copying.

Enter at `view.py`. Comparing texts belongs to `coder_tui.diffs`.
"""
