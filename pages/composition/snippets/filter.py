import math

import objpert_core.accounting as acc

releases = RELEASES
budget = acc.PrivacyFilter.for_target(TARGET, DELTA)
for release in releases[:RELEASED]:
    if math.isfinite(release.mu()) and budget.allows(release):
        budget.spend(release)
print(budget.mu, budget.reading, budget.left, budget.epsilon(DELTA))
for release in releases[RELEASED:PLANNED]:
    print(math.isfinite(release.mu()) and budget.allows(release))
