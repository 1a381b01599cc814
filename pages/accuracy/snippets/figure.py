from objpert_core.experiments import results, tables

stored = results.load(KEY)
points = [point for point in tables.summary(stored) if point.epsilon in (EPSILON, float("inf"))]
for point in points:
    print(point.method, point.accuracy, point.seconds.median)

claims = {claim.epsilon: claim for claim in tables.claims(stored)}
print(claims.get(EPSILON))
print(tables.verdict(claims.values()))
