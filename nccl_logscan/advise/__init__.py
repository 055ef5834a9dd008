"""From a run's size, network and framework to the settings that it needs, those it does not, and why."""
