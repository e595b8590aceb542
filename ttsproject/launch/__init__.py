"""How `make run` starts everything in one terminal. Production starts the same commands by itself (docs/operating.md)."""
