"""Who waits for whom: from the watchdogs' words, from flight-recorder dumps or from both, to the rank behind a hang."""
