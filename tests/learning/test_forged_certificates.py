"""Certificates that leave out what a proof needs: they must not verify."""

import dataclasses

import numpy as np

from objpert_core.estimators import ObjPertSVC


def test_a_certificate_without_its_smoothness_does_not_verify():
    X = np.random.default_rng(0).standard_normal((60, 3))
    honest = ObjPertSVC(classes=[0, 1], clip=0.1, random_state=3).fit(X, (X[:, 0] > 0).astype(int)).privacy_
    assert honest.verify()
    forged = dataclasses.replace(honest, lam=honest.lam / 100, sigma_out=honest.sigma_out * 100, smoothness=None)
    truth = dataclasses.replace(forged, smoothness=honest.smoothness)
    assert truth.rebuild().epsilon(truth.delta) > 3  # the certificate says 1
    assert not truth.verify()
    assert not forged.verify()
