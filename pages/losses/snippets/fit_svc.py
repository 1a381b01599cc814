# fmt: off
import numpy as np

from objpert_core.estimators import ObjPertSVC

X, y = GENERATED
model = ObjPertSVC(
    epsilon=EPSILON, delta=DELTA, loss=LOSS, clip=CLIP, hinge_width=PARAMETER,
    intercept_scaling=CONSTANT, row_norm="clip", random_state=NOISE_SEED,
).fit(X, y)
theta = np.append(model.coef_, model.intercept_)
print(*theta)
print(model.privacy_)
