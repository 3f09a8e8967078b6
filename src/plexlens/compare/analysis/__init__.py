"""What a study asked and what its tables show: values, findings, claims, curves and checks."""
