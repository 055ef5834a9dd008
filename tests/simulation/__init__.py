"""A simulator of broken training jobs: it writes what such a job leaves behind, and knows the right answer."""

from tests.simulation.scenario import FAULTS, LAYOUTS, Scenario, Truth, draw
from tests.simulation.write import simulate

__all__ = ["FAULTS", "LAYOUTS", "Scenario", "Truth", "draw", "simulate"]
