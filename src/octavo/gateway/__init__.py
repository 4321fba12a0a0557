"""The gateway under `/v1`: the interfaces of OpenAI and Anthropic, for clients that know nothing of Octavo.

A client sends its whole history with every request, or names the answer that it continues. A request that fits goes
to the provider byte for byte. A request that does not fit is identified as a branch of a stored conversation, and a
context that fits is sent in its place. An answer is stored before the client has seen all of it.

`request` is the path of a request from top to bottom; the other modules are named after its steps.
"""
