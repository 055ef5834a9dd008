"""Engines: who else than this process reads the large inputs of a scan; the result is the same to the byte.

shards.py   what is asked of another process and what it tells: plain tuples
worker.py   the other process: skims segments, gives bytes, lists a node's files
cluster.py  Ray: found or started, its nodes, and what a person is told where there is none
queue.py    shards as tasks: ahead of who needs them, tried again elsewhere, never waited for without end
nodes.py    each node's own files as sources
scan.py     a scan by all of these
"""
