"""Private linear models with scikit-learn's conventions: the public face of `objpert_core.learning`."""

from objpert_core.learners.dp_sgd import DPSGDLogisticRegression
from objpert_core.learners.logistic_regression import ObjPertLogisticRegression
from objpert_core.learners.output_perturbation import OutputPerturbationLogisticRegression
from objpert_core.learners.regressor import ObjPertRegressor
from objpert_core.learners.svc import ObjPertSVC
from objpert_core.learning.certificate import PrivacyCertificate

__all__ = [
    "DPSGDLogisticRegression",
    "ObjPertLogisticRegression",
    "ObjPertRegressor",
    "ObjPertSVC",
    "OutputPerturbationLogisticRegression",
    "PrivacyCertificate",
]
