"""The audit of each tenant: events are appended by one writer, sealed in a keyed chain, verified, and kept as long as

the tenant's setting says. `synth/service/auditing.py` brings the events.
"""
