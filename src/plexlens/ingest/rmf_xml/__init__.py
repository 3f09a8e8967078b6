"""RMF Postprocessor and Monitor III reports in XML (``ddsml``)."""
