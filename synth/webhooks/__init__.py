"""Telling tenants over HTTP what happened: where to, how it is signed and sent, and when again. Values only."""
