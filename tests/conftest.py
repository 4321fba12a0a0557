"""What holds for all tests: a slow machine is no failure, nor is a run in the background."""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

# The same examples in every run: what breaks a test is a change. `--hypothesis-profile=explore` looks further.
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("octavo", settings.get_profile("explore"), derandomize=True)
settings.load_profile("octavo")

# A shell has what it starts in the background ignore Ctrl-C, and so would every program that a test starts and stops.
signal.signal(signal.SIGINT, signal.default_int_handler)
