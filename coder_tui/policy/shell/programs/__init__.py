"""What is known of each program, by family."""
