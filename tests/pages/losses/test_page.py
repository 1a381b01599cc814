"""The page Losses, without a browser: the core's numbers, exact presets, nonsense does no harm."""

from functools import partial

import pytest

from tests.pages.apps import open_app

FIT, DIMENSION = "The fit", "Without GLM structure"


pytestmark = pytest.mark.slow
open_page = partial(open_app, "pages/losses/page.py")


def test_controls_that_do_not_matter_are_out_of_sight_and_keep_their_values():
    app = open_page(losses_show=FIT, losses_outliers="0.3", losses_margin="2")
    for show in ("The loss", DIMENSION, FIT):
        app.radio(key="losses_show").set_value(show).run()
        assert app.session_state["losses_outliers"] == 0.3
        assert app.session_state["losses_margin"] == 2.0
