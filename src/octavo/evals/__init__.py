"""`octavo eval`: what compressors keep, lose and cost, measured side by side on the same conversations.

`octavo.evals.measure` measures. This package finds or makes conversations, runs compressors, and reports the findings.
"""
