"""Find the place of a model's edit in a file, and refuse if it is not certain.

Enter at `replace.py` for `edit` and `patch_plan.py` for patches.
"""
