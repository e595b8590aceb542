"""Engines for tests only; REFRAIN_ENGINE_PACKAGES=tests.engines makes workers find them."""
