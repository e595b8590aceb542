"""How `make run` starts everything in one terminal. docs/operating.md tells what production starts."""
