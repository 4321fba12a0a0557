"""The server: the whole engine over HTTP, live events, and a gateway that existing clients use unchanged.

Work belongs to the server, not to a connection: a client that goes away loses nothing, and comes back by event id.
Nothing that must outlive a process is kept in one, so any number of them serve one PostgreSQL.
"""
