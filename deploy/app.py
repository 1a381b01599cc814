"""One process of the app: `streamlit run app.py`, begun when all that is slow to import has been imported.

nginx sends people to a process as soon as it listens. One that is started again in the middle of a lesson listens when
it can answer; until then its people are with the others.
"""

import importlib
import sys

if __name__ == "__main__":
    importlib.import_module("ui.warm")
    importlib.import_module("ui.live")
    from streamlit.web.cli import main

    sys.argv[:] = ["streamlit", "run", "app.py", *sys.argv[1:]]
    main()
