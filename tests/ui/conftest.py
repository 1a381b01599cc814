"""What everything needs that opens a page in Streamlit's test driver."""

from functools import cache

import pytest
from streamlit.components.v2 import manifest_scanner


@pytest.fixture(scope="session", autouse=True)
def packages_are_searched_once():
    """Streamlit's driver reads the metadata of every installed package whenever a page is opened, which takes longer
    than most pages do. What is installed does not change while the tests run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield
