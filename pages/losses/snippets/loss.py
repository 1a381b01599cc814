import numpy as np

from objpert_core.learning import ClippedLoss, loss_named

loss = loss_named(LOSS, PARAMETER)
clipped = ClippedLoss(loss, CLIP / NORM)
target = TARGET
scores = np.linspace(-4, 4, 9)
slopes, curvatures = clipped.derivatives(scores, target)
print(np.column_stack([scores, loss.value(scores, target), clipped.value(scores, target), slopes]))
print("kinks:", *clipped.kinks(targets=target))
