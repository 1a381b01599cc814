"""Ask the data first: generalised propose-test-release."""

from objpert_core.learning.ptr.certificate import BestOfCertificate, ProposeTestReleaseCertificate
from objpert_core.learning.ptr.framework import (
    DataDependent,
    PrivateBound,
    WorstCase,
    propose_test_release,
    release_under_bound,
)
from objpert_core.learning.ptr.private_tests import BoundTest, DistanceTest, PrivateTest, UpperBound
from objpert_core.learning.ptr.selection import best_of
from objpert_core.learning.release import Refused, Released

__all__ = [
    "BestOfCertificate",
    "BoundTest",
    "DataDependent",
    "DistanceTest",
    "PrivateBound",
    "PrivateTest",
    "ProposeTestReleaseCertificate",
    "Refused",
    "Released",
    "UpperBound",
    "WorstCase",
    "best_of",
    "propose_test_release",
    "release_under_bound",
]
