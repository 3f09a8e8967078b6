"""Printed reports: a common catalogue of their columns (``layouts/printed``), and two scanners that fill its tables.

`plexlens.ingest.printed.xml` reads RMF Postprocessor and Monitor III reports in XML,
`plexlens.ingest.printed.text` Db2, RMF and CICS reports as text. A report fills the same columns either way.
"""
