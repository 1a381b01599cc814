"""Serving the app to a class: several processes behind nginx (docs/deploying.md)."""
