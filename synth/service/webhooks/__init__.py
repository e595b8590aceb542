"""Telling tenants what happened: endpoints, events, deliveries, sending. HTTP is in synth/webhooks/."""
