"""The mouth: one file a command; each parses, calls the library and prints."""

from tocsin.cli._app import app, main

__all__ = ["app", "main"]
