"""Chunking: cuts a document into passages whose offsets are exact."""
