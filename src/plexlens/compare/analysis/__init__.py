"""Questions and results of a study: values, findings, claims, curves and checks."""
