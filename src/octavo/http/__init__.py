"""What the server and the gateway share of HTTP: errors as JSON, responses, and who sends a request."""
