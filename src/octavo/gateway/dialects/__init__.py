"""The providers' interfaces that clients may speak to the gateway, one module each."""
