"""The gateway under `/v1`: OpenAI's and Anthropic's own interface, for clients that know nothing of Octavo.

A client sends its whole history every time. What fits goes to the provider byte for byte; what does not is recognised
as a branch of a stored tree, and a context that fits is sent in its place. Whatever a client was told in full is
stored before it is told.
"""

from __future__ import annotations
