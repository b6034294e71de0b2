from hypothesis import settings

# Slow machines are not failures: no test is timed.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")
