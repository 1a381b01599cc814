"""The app's entry point: ``streamlit run app.py``."""

import logging

import streamlit as st
from streamlit import net_util

from pages.own import upload
from ui import registry, visitors

if __name__ == "__main__":  # the script of every session
    st.set_page_config(page_title="Objective perturbation", page_icon="🎲", layout="wide")
    menu = registry.navigation()
    chosen = st.navigation(menu, position="top")
    place = [chosen in pages for pages in menu.values()].index(True) + 1  # of the group, whose name says where we are
    st.html(f"<style>[data-testid=stTopNav] > :nth-child({place}) button {{ box-shadow: inset 0 -2px }}</style>")
    if chosen.url_path != "own":
        upload.leave()  # a table that was handed in there
    chosen.run()
else:  # the server's own import, before anybody's session
    st.set_option("client.showErrorDetails", "none")  # as in .streamlit/config.toml, where a host overrides that
    # Streamlit would ask checkip.amazonaws.com for this computer's address, at the start and for every visitor whose
    # page is another site's: the server would wait for the answer. Those are refused without it.
    net_util.get_internal_ip = net_util.get_external_ip = lambda: None
    visitors.sign_numbers()  # in cookies, before there are any
    # Until the first `st.navigation` of a process Streamlit takes a folder called pages for its older kind of multipage
    # app, in which the first visitor's link to a page is answered by "Page not found".
    logging.disable(logging.WARNING)  # that there is no session yet is meant
    st.navigation(registry.navigation())
    logging.disable(logging.NOTSET)
    app = st.App(__file__)
