"""Tests of recall."""
