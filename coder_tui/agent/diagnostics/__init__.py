"""Report what language servers find, before and after an edit.

Enter at `session.py`. Starting and asking servers belongs to `lsp`.
"""
