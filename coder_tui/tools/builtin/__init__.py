"""The tools that ship with the program."""
