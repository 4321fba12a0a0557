"""The services that answer: one adapter each, over the service's own library, imported only when it is used.

An adapter obeys `octavo.protocols.Provider`. What goes out and what comes back is written and read by `core.wire`;
errors are classified once, in `error_mapping`; a request is tried again only while nobody has seen any of the answer.
"""
