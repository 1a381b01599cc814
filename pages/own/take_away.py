"""What may be published of a release, the schema, and the lines of Python for new rows."""

from functools import partial

import streamlit as st

from objpert_core.estimators import own_table
from pages.own import release
from pages.own.jobs import Made
from ui import page

NO_ACCURACY = (
    "ε covers no accuracy that you measure on your table yourself. If you keep some rows apart, `model.json` and "
    "the lines below measure the accuracy on them. Do not publish this number. With the switch “scores” you get an "
    "accuracy that ε covers."
)


def release_files(made: Made) -> None:
    """The model and its certificate."""
    page.download("Model", partial(own_table.model_json, made), "model.json", "deployed_code", key="own_model")
    proof = partial(own_table.certificate_json, made)
    page.download("Certificate", proof, "certificate.json", "verified_user", key="own_proof")


def other_files(made: Made) -> None:
    """What else belongs to a release."""
    page.download("Schema as JSON", partial(own_table.schema_json, made), "schema.json", "list_alt", key="own_form")
    if made.evaluation is not None:
        scores = partial(own_table.evaluation_json, made.evaluation)
        page.download("Scores as JSON", scores, "evaluation.json", "percent", key="own_scores_json")
        both = partial(own_table.whole_json, made)
        page.download("Certificate of both as JSON", both, "together.json", "verified_user", key="own_both")
    if own_table.skops_is_there():
        label, icon = "Model for scikit-learn (skops)", ":material/deployed_code:"
        model, mime = partial(own_table.skops_file, made), "application/octet-stream"
        st.download_button(label, model, "model.skops", mime, key="own_skops", on_click="ignore", icon=icon)
        page.download("Model card", partial(own_table.card_file, made), "README.md", "description", key="own_card")


def python(made: Made) -> None:
    """The lines of Python for new rows."""
    block = st.expander("Use the model in Python", icon=":material/code:", key="own_use", on_change="rerun")
    if block.open:
        with block:
            note = "These lines use the released model on new rows: `model.json`, `schema.json` and a file of rows. "
            note += "In a terminal, `objpert predict model.json new.csv` does the same."
            st.caption(f"{note} {NO_ACCURACY}")
            st.code(release.use_code(), language="python")
