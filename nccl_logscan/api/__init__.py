"""What programs and notebooks use: `nccl_logscan` itself names all of it and imports it when it is asked for.

scan ──→ ScanResult ──→ HTML, JSON, text, polars frames (frames), a notebook's output (notebook)
read_events, write_events ──→ the table of every line
"""
