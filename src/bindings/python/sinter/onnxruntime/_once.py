"""Warnings that are given once."""
from .._errors import warn

_given = set()


def once(name, text):
    """Warns of NAME, the first time only."""
    if name not in _given:
        _given.add(name)
        warn(f"{name}: {text}")


def without_effect(name):
    once(name, "it is accepted, and has no effect in Sinter")
