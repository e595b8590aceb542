"""Celery's doors: each makes one call. Rung by name, so the API never imports them."""

from celery import shared_task

from synth import dashboard, hits, observed, service, worker


@shared_task(name="synth.drain_engine")
def drain_engine(name: str) -> None:
    worker.answer_bell(name)


@shared_task(name="synth.drain_renderings")
def drain_renderings() -> None:
    service.drain_renderings(worker.this_worker())


@shared_task(name="synth.drain_usage")
def drain_usage() -> None:
    service.drain_usage()


@shared_task(name="synth.drain_actions")
def drain_actions() -> None:
    service.drain_actions()


@shared_task(name="synth.drain_voices")
def drain_voices() -> None:
    service.drain_voices(worker.this_worker())


@shared_task(name="synth.drain_deliveries")
def drain_deliveries() -> None:
    service.drain_deliveries(worker.this_worker())


@shared_task(name="synth.sweep_storage")
def sweep_storage() -> None:
    service.sweep_storage()


@shared_task(name="synth.audit_objects")
def audit_objects() -> None:
    service.audit_objects()


@shared_task(name="synth.judge_misses")
def judge_misses() -> None:
    service.judge_misses()


@shared_task(name="synth.count_days")
def count_days() -> None:
    hits.count_finished_days()
    observed.forget_old()


@shared_task(name="synth.take_sample")
def take_sample() -> None:
    dashboard.take_sample()


@shared_task(name="synth.warn_of_quotas")
def warn_of_quotas() -> None:
    service.warn_of_quotas()


@shared_task(name="synth.watch_audit")
def watch_audit() -> None:
    service.watch_audit()


@shared_task(name="synth.verify_audit")
def verify_audit() -> None:
    service.verify_due()


@shared_task(name="synth.drop_old_audit")
def drop_old_audit() -> None:
    service.drop_old_audit()


@shared_task(name="synth.sweep")
def sweep() -> None:
    service.sweep()
