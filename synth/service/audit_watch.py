"""The watch over the audit, with the thresholds of the settings. The beat rings for it."""

import logging

from synth.conf import conf
from tenants.audit.watching import Thresholds, watch

logger = logging.getLogger("refrain.audit")


def watch_audit() -> None:
    told = conf()
    thresholds = Thresholds(
        new_addresses=told.audit_new_addresses,
        burst_factor=told.audit_burst_factor,
        burst_least=told.audit_burst_least,
        missing_ids=told.audit_missing_ids,
        refusals=told.audit_refusals,
    )
    for flag in watch(thresholds):
        logger.warning("unusual use by %s: %s %s", flag.actor_id, flag.kind, flag.numbers)
