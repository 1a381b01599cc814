"""Certificates of every kind of release, each with changes that promise more and changes that promise less."""

from tests.learning.certificates.dp_sgd import SGD
from tests.learning.certificates.evaluated import EVALUATED
from tests.learning.certificates.fitted import FITTED
from tests.learning.certificates.objective import OBJECTIVE
from tests.learning.certificates.population import POPULATION
from tests.learning.certificates.posterior import POSTERIOR
from tests.learning.certificates.quadratic import QUADRATIC
from tests.learning.certificates.tested import TESTED

FAMILIES = {"objective": OBJECTIVE, "DP-SGD": SGD, "population": POPULATION, "quadratic": QUADRATIC}
FAMILIES |= {"posterior": POSTERIOR, "tested": TESTED, "evaluated": EVALUATED, "fitted": FITTED}
EVERY = {f"{family}, {name}": kind for family, kinds in FAMILIES.items() for name, kind in kinds.items()}
