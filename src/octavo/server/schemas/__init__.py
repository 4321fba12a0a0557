"""The schemas of the API as pydantic models, one module for each module of routes.

The models that describe responses also write them.
"""
