"""As upstream's: empty."""
