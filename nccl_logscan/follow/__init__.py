"""A job that still runs: its logs are read as they grow, and a verdict is given once it has failed or ended.

    files that grow (growth) → lines of each (tail) → the scan's own state (job) ┐
    when to look whether it has failed (patience) ───────────────────────────────┴→ ScanResult (watch)

Every line is read once and folded. Files are looked at with `stat` and not by inotify: of what another host writes to
NFS or Lustre, inotify tells nothing.
"""

from nccl_logscan.follow.clock import Clock, SystemClock
from nccl_logscan.follow.watch import SETTLE, Watch, follow

__all__ = ["SETTLE", "Clock", "SystemClock", "Watch", "follow"]
