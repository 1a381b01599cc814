import copy
import pickle

import numpy as np
import pytest

from objpert_core.exceptions import ReleaseRefusedError
from objpert_core.learning import Refused, Release
from tests.learning.test_certificate import fitted


@pytest.fixture(scope="module")
def certificate():
    return fitted()


def test_a_release_gives_itself(certificate):
    release = Release(np.zeros(3), certificate, (1.0, 0.0))
    assert release.released is True
    assert release.required() is release


def test_a_refusal_raises_where_a_model_is_needed_and_says_what_was_spent(certificate):
    refusal = Refused(certificate, "the noisy test said no")
    assert refusal.released is False
    with pytest.raises(ReleaseRefusedError, match="the noisy test said no") as caught:
        refusal.required()
    assert caught.value.certificate is certificate
    assert not hasattr(refusal, "theta")


@pytest.mark.parametrize("kind", [Release, Refused])
def test_neither_is_true_or_false(certificate, kind):
    outcome = kind(certificate, "no") if kind is Refused else kind(np.zeros(1), certificate, ())
    with pytest.raises(TypeError, match=rf"a {kind.__name__} is neither true nor false: ask \.released"):
        bool(outcome)
    with pytest.raises(TypeError):
        _ = "yes" if outcome else "no"


def test_a_refusal_keeps_its_certificate_in_another_process():
    refusal = ReleaseRefusedError("the noisy test said no", {"epsilon": 1.0})
    for same in (pickle.loads(pickle.dumps(refusal)), copy.deepcopy(refusal)):
        assert (str(same), same.certificate) == (str(refusal), refusal.certificate)
