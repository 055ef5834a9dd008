"""What other tools measured of a job, read as inputs beside its logs: plain data → records. Nothing here raises."""
