"""Warnings that are given once."""
import warnings

_given = set()


def once(name, text):
    """Warns of NAME, the first time only."""
    if name not in _given:
        _given.add(name)
        warnings.warn(f"{name}: {text}", stacklevel=3)


def without_effect(name):
    once(name, "it is accepted, and has no effect in Sinter")
