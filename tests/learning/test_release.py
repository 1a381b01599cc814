import copy
import pickle

import numpy as np
import pytest

from objpert_core.exceptions import ReleaseRefusedError
from objpert_core.learning import Refused, Release
from tests.learning.test_certificate import fitted


def test_an_outcome_says_whether_it_was_released_and_is_neither_true_nor_false():
    spent = fitted()
    release, refusal = Release(np.zeros(3), spent, (1.0, 0.0)), Refused(spent, "the noisy test said no")
    assert (release.released, release.required()) == (True, release)
    assert refusal.released is False
    with pytest.raises(ReleaseRefusedError, match="the noisy test said no") as caught:
        refusal.required()
    assert caught.value.certificate is spent
    assert not hasattr(refusal, "theta")
    for outcome in (release, refusal):
        with pytest.raises(TypeError, match=rf"a {type(outcome).__name__} is neither true nor false: ask \.released"):
            bool(outcome)


def test_a_refusal_keeps_its_certificate_in_another_process():
    refusal = ReleaseRefusedError("the noisy test said no", {"epsilon": 1.0})
    for same in (pickle.loads(pickle.dumps(refusal)), copy.deepcopy(refusal)):
        assert (str(same), same.certificate) == (str(refusal), refusal.certificate)
