"""Bytes → Dump: PyTorch's flight recorder, the ring of each rank's recent collectives, pickled or as JSON."""
