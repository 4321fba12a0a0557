"""`octavo eval`: what compressors keep, lose and cost, measured side by side on the same conversations.

`octavo.evals.measure` measures; here conversations are found or made, compressors are run, and the findings are told.
"""
