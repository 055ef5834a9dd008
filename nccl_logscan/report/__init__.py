"""A ScanResult to JSON, HTML and text."""
