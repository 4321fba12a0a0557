"""Programs for those who work on Octavo; `python -m scripts.NAME` runs one."""
