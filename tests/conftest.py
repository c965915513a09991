"""What holds for every test."""

from hypothesis import HealthCheck, settings

# The same examples on every machine, however busy it is: a failure must be due to the change at hand.
settings.register_profile(
    "sotto", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("sotto")
