"""Events of RACF: logons and accesses refused, commands."""

from __future__ import annotations

from plexlens.report.blocks.page import Page, Shown, TableSpec
from plexlens.report.model import Way

PAGE = Page(
    order=925,
    id="security",
    title="RACF events",
    lead="Logons, jobs and accesses to resources that RACF refused, and the other events that it recorded.",
    what="events of RACF",
    ways=(Way("SMF 80", "TYPE(80) in SMFPRMxx; RACF writes violations, and what profiles and SETROPTS ask for."),),
    tables=(
        TableSpec(
            "security_events",
            "Events of RACF",
            "security_event",
            (
                Shown("events", bar=True),
                Shown("violations"),
                Shown("violation_fraction"),
                Shown("warnings"),
                Shown("logons_refused"),
                Shown("accesses_refused"),
                Shown("undefined_users"),
            ),
            by=("system", "security_event", "event_qualifier", "resource_class"),
            order="violations",
            top=30,
            note="Qualifiers are those of z/OS Security Server RACF Macros and Interfaces: of a logon, 1 is an invalid "
            "password and 6 a revoked user; of an access, 1 is insufficient authority. Logons have no class.",
        ),
    ),
)
