"""The app's entry point: ``streamlit run app.py``."""

import streamlit as st

st.set_page_config(page_title="Objective perturbation", page_icon="🎲", layout="wide")

st.navigation(
    {
        "": [st.Page("pages/home/page.py", title="Home", icon=":material/home:", default=True)],
        "One fit": [
            st.Page("pages/bounds/page.py", title="Bounds", icon=":material/show_chart:", url_path="bounds"),
            st.Page("pages/distance/page.py", title="Distance", icon=":material/straighten:", url_path="distance"),
            st.Page("pages/planner/page.py", title="Planner", icon=":material/tune:", url_path="planner"),
        ],
        "Many releases": [
            st.Page("pages/renyi/page.py", title="Rényi and DP-SGD", icon=":material/trending_up:", url_path="renyi"),
            st.Page("pages/composition/page.py", title="Composition", icon=":material/stacks:", url_path="composition"),
            st.Page("pages/tuning/page.py", title="What tuning costs", icon=":material/experiment:", url_path="tuning"),
        ],
        "Learning": [
            st.Page(
                "pages/training/page.py", title="Live training", icon=":material/model_training:", url_path="training"
            ),
            st.Page("pages/accuracy/page.py", title="Accuracy", icon=":material/leaderboard:", url_path="accuracy"),
            st.Page("pages/honest/page.py", title="Honest or not", icon=":material/balance:", url_path="honest"),
            st.Page("pages/solvers/page.py", title="Solvers", icon=":material/speed:", url_path="solvers"),
            st.Page(
                "pages/losses/page.py", title="Losses and clipping", icon=":material/content_cut:", url_path="losses"
            ),
        ],
    },
    position="top",
).run()
