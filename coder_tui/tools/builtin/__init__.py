"""The tools that ship with the program, each next to its description (`<name>.txt`)."""
