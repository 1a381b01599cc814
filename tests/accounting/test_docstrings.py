"""Public names of objpert_core.accounting have an example; `tests/test_doctests.py` runs them."""

import inspect

import objpert_core.accounting as acc


def test_every_public_name_has_an_example():
    public = [getattr(acc, name) for name in acc.__all__]
    described = [o for o in public if inspect.isfunction(o) or (inspect.isclass(o) and not inspect.isabstract(o))]
    lacking = [o.__name__ for o in described if ">>>" not in (o.__doc__ or "")]
    assert lacking == ["ViaRDP"]  # made by via_rdp, which has one
