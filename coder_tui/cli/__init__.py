"""The command line: arguments → settings → bootstrap → a front end."""
