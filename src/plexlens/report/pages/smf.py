"""Recording of SMF itself: records, buffers, losses of data."""

from __future__ import annotations

from plexlens.report.blocks.page import Page, Shown, TableSpec
from plexlens.report.model import Way

PAGE = Page(
    order=930,
    id="smf",
    title="SMF recording",
    lead="Whether SMF lost data, how many records it wrote, and how much of its buffers it used.",
    what="recording by SMF",
    ways=(Way("SMF 23, 7", "STATUS and TYPE(7,23) in SMFPRMxx."),),
    tables=(
        TableSpec(
            "smf_recording",
            "Records and buffers of SMF",
            "smf_recording",
            (
                Shown("losses"),
                Shown("records", bar=True),
                Shown("record_rate"),
                Shown("buffer_rate"),
                Shown("most_buffers"),
                Shown("most_storage_bytes"),
                Shown("storage_limit_bytes"),
                Shown("most_storage_fraction"),
                Shown("warning_level"),
            ),
            by=("system",),
            order="losses",
            note="A loss is a record of type 7: SMF writes it when it can record again. Figures of buffers are those "
            "of recording to SMF data sets.",
        ),
    ),
)
