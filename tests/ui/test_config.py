"""How the app is served: protections on, nothing told to strangers, nobody told about the visitors."""

import tomllib
from pathlib import Path

CONFIG = tomllib.loads((Path(__file__).parents[2] / ".streamlit" / "config.toml").read_text())


def test_protections_are_on_and_nothing_is_reported():
    assert CONFIG["server"]["enableCORS"] is True
    assert CONFIG["server"]["enableXsrfProtection"] is True
    assert CONFIG["server"]["maxUploadSize"] <= 5
    assert CONFIG["server"]["headless"] is True
    assert CONFIG["server"]["address"] == "localhost"
    assert CONFIG["browser"]["gatherUsageStats"] is False
    assert CONFIG["client"]["showErrorDetails"] == "none"


def test_every_option_is_one_that_streamlit_knows():
    from streamlit import config

    known = config.get_config_options()
    for section, options in CONFIG.items():
        for name, value in options.items():
            named = [f"{section}.{name}.{key}" for key in value] if isinstance(value, dict) else [f"{section}.{name}"]
            assert set(named) <= set(known)
