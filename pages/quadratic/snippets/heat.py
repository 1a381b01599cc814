from objpert_core.experiments.quadratic import figure1

found = figure1.cell(PANEL, PROOF, EPSILON, DELTA)
print(found.value, found.degrees_of_freedom)
