"""Data and code: tables, records, notebooks, subtitles, sources."""
