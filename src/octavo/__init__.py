"""Octavo keeps LLM conversations alive past the context window."""

__version__ = "0.1.0"
