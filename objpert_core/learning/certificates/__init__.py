"""Certificates: their fields with the rules, what is the same for every kind, their texts and their words."""
