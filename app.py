"""The app's entry point: ``streamlit run app.py``."""

import streamlit as st

from ui import registry

st.set_page_config(page_title="Objective perturbation", page_icon="🎲", layout="wide")

st.navigation(registry.navigation(), position="top").run()
