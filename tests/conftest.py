"""Settings of the whole suite: hypothesis draws the same examples on every run in CI, and new ones everywhere else."""

import os

from hypothesis import settings

# no deadlines anywhere: how fast a machine is, and how busy, is not what these tests are about
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")
