"""A2: rows of the audit are edited, deleted, cut off and rewritten by SQL, by their owner; each is found and named."""

from __future__ import annotations

import re

from tests.faults.scoreboard import Figures, MakeStack, Row

# One chain for each, and one that nobody touches. Whoever cuts off or rewrites also sets right what he can reach, and
# the one who rewrites has the key.
NAMED = {
    "edited": r"altered: event {middle}\b",
    "deleted": r"missing: event {middle}\b",
    "cut": r"cut_off: event {next} to {last}\b",
    "rewritten": r"rewritten: event {last}\b",
}
DO = """
from django.db import connection, transaction
from synth import service
from tenants.audit.events import Event
from tenants.audit.writing import append
from tenants.models import AuditEvent, AuditSegment
from tenants.service import create_tenant

names = ("edited", "deleted", "cut", "rewritten", "untouched")
chains = {name: create_tenant(name, name).id for name in names}
for chain in chains.values():
    for _ in range(EVENTS // 10):
        append(chain, [Event(action="GET /v1/voices") for _ in range(10)])
service.drain_usage()  # which anchors the heads

def sql(statement, name, *values):
    chain = chains[name] if connection.vendor == "postgresql" else chains[name].hex
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(statement, [*values, chain])

with transaction.atomic():
    sql("UPDATE tenants_auditevent SET outcome = 'ok.' WHERE sequence = %s AND chain = %s", "edited", MIDDLE)
    sql("DELETE FROM tenants_auditevent WHERE sequence = %s AND chain = %s", "deleted", MIDDLE)
    sql("DELETE FROM tenants_auditevent WHERE sequence > %s AND chain = %s", "cut", EVENTS - 10)
    sql("DELETE FROM tenants_auditsegment WHERE last > %s AND chain = %s", "cut", EVENTS - 10)
    end = AuditSegment.objects.get(chain=chains["cut"], last=EVENTS - 10)
    set_back = "UPDATE tenants_auditchain SET last = %s, number = %s, mac = %s WHERE id = %s"
    sql(set_back, "cut", end.last, end.number, end.mac)
    sql("DELETE FROM tenants_auditevent WHERE chain = %s", "rewritten")
    sql("DELETE FROM tenants_auditsegment WHERE chain = %s", "rewritten")
    sql("DELETE FROM tenants_auditchain WHERE id = %s", "rewritten")
append(chains["rewritten"], [Event(action="GET /v1/voices") for _ in range(EVENTS)])
for name, chain in chains.items():
    print(name, "=", "; ".join(map(str, service.verify_chain(chain).findings)))
"""


def play(make_stack: MakeStack, *, seed: int, events: int) -> Figures:
    """`seed` chooses the row that is edited, and the one that is deleted."""
    stack = make_stack(env={"REFRAIN_AUDIT_ANCHOR_SECONDS": "0"})
    middle = 1 + (seed * 7919) % (events - 20)
    script = f"EVENTS, MIDDLE = {events}, {middle}\n{DO}"
    said = stack.run("shell", "--verbosity", "0", "--command", script)
    told = dict(re.findall(r"^(\w+) = (.*)$", said, re.MULTILINE))
    place = {"middle": middle, "next": events - 9, "last": events}
    missed = [name for name, named in NAMED.items() if not re.search(named.format(**place), told[name])]
    return {"tampered": len(NAMED), "not_named": len(missed), "false_alarms": int(bool(told["untouched"]))}


ROW = Row(
    "A2",
    "audit edited, deleted from, cut off, rewritten",
    play,
    short={"events": 100},
    long={"events": 10_000},
    limits={"not_named": 0, "false_alarms": 0},
)
