"""What is known about single programs, by family. `policy.shell.catalog` lists them all."""
