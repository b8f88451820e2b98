"""What is known of each program, by family; `policy.shell.catalog` lists them."""
