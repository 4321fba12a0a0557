"""The history of the schema, one for both databases."""
