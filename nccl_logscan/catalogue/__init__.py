"""What can be set: every variable of NCCL, its plugins and PyTorch, and the settings of frameworks, by version."""
