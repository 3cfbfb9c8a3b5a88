"""Office files: documents, presentations and sheets, of both families, and RTF."""
