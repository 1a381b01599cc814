from objpert_core.experiments.studies.subsampling import Plan, learning_curve

*_, curve = learning_curve(Plan(ARGUMENTS))
for rows in curve.sizes:
    cost = curve.cost(rows)
    print(rows, curve.private(rows).mean, curve.reference(rows).mean, COST)
