"""What holds for all tests: a slow machine is no failure."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# The same examples in every run: what breaks a test is a change. `--hypothesis-profile=explore` looks further.
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("octavo", settings.get_profile("explore"), derandomize=True)
settings.load_profile("octavo")
