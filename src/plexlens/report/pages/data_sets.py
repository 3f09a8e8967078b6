"""EXCPs of non-VSAM data sets, from OPEN to CLOSE."""

from __future__ import annotations

from plexlens.report.blocks.page import Page, Shown, TableSpec
from plexlens.report.model import Way

PAGE = Page(
    order=1125,
    id="data_sets",
    title="EXCPs of data sets",
    lead="Which data sets get the EXCPs, by which jobs, with block sizes and time open.",
    what="EXCPs of data sets",
    ways=(Way("SMF 14, 15", "TYPE(14,15) in SMFPRMxx; z/OS writes a record at each CLOSE and end of volume."),),
    tables=(
        TableSpec(
            "data_sets_excps",
            "Data sets with the most EXCPs",
            "dasd_data_set_use",
            (
                Shown("excps", bar=True),
                Shown("excps_per_close"),
                Shown("records"),
                Shown("open_seconds"),
                Shown("block_bytes"),
                Shown("most_tracks"),
                Shown("most_extents"),
                Shown("uncertain_excps"),
            ),
            by=("data_set", "access"),
            order="excps",
            top=30,
            note="Non-VSAM data sets on DASD, tape and VIO, all jobs together, in the quarter of an hour in which they "
            "were closed. A count of the step is taken since the close before. EXCPs of jobs that began before the "
            "data may be of then, and are apart.",
        ),
        TableSpec(
            "data_sets_excp_jobs",
            "Jobs and DDs with the most EXCPs",
            "dasd_data_set_use",
            (
                Shown("excps", bar=True),
                Shown("excps_per_close"),
                Shown("records"),
                Shown("open_seconds"),
                Shown("block_bytes"),
                Shown("uncertain_excps"),
            ),
            by=("system", "job", "dd", "data_set"),
            order="excps",
            top=30,
        ),
        TableSpec(
            "data_sets_excp_volumes",
            "Volumes with the most EXCPs",
            "dasd_data_set_use",
            (Shown("excps", bar=True), Shown("uncertain_excps")),
            by=("volume",),
            order="excps",
            top=20,
            folded=True,
        ),
    ),
)
