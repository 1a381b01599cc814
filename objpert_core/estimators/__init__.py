"""Private linear models with scikit-learn's conventions: the public face of `objpert_core.learning`."""

from objpert_core.estimators.ada_ops import AdaOPSRegressor
from objpert_core.estimators.ada_ssp import AdaSSPRegressor
from objpert_core.estimators.additive import ObjPertAdditiveClassifier, ObjPertAdditiveRegressor
from objpert_core.estimators.cards import model_card
from objpert_core.estimators.dp_sgd import DPSGDLogisticRegression
from objpert_core.estimators.draws import fit_many
from objpert_core.estimators.logistic_regression import ObjPertLogisticRegression
from objpert_core.estimators.noisy_sgd import NoisySGDClassifier, NoisySGDRegressor
from objpert_core.estimators.ops_ptr import OPSPTRRegressor
from objpert_core.estimators.output_perturbation import OutputPerturbationLogisticRegression
from objpert_core.estimators.phased import PhasedERMClassifier
from objpert_core.estimators.qop_lasso import QOPLasso
from objpert_core.estimators.recipe import Recipe
from objpert_core.estimators.regression_tables import regression_table
from objpert_core.estimators.regressor import ObjPertRegressor
from objpert_core.estimators.scaler import PublicRangeScaler
from objpert_core.estimators.sco import ObjPertSCOClassifier, ObjPertSCORegressor
from objpert_core.estimators.search import PrivateSearch
from objpert_core.estimators.svc import ObjPertSVC
from objpert_core.learning.certificates.base import PrivacyCertificate

__all__ = [
    "AdaOPSRegressor",
    "AdaSSPRegressor",
    "DPSGDLogisticRegression",
    "NoisySGDClassifier",
    "NoisySGDRegressor",
    "OPSPTRRegressor",
    "ObjPertAdditiveClassifier",
    "ObjPertAdditiveRegressor",
    "ObjPertLogisticRegression",
    "ObjPertRegressor",
    "ObjPertSCOClassifier",
    "ObjPertSCORegressor",
    "ObjPertSVC",
    "OutputPerturbationLogisticRegression",
    "PhasedERMClassifier",
    "PrivacyCertificate",
    "PrivateSearch",
    "PublicRangeScaler",
    "QOPLasso",
    "Recipe",
    "fit_many",
    "model_card",
    "regression_table",
]
