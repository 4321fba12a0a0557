"""Any text at all: every plane, halves of surrogate pairs, private use, and what special tokens are made of."""

from __future__ import annotations

from hypothesis import strategies as st

CHARACTERS = st.one_of(
    st.characters(codec=None),
    st.characters(categories=("Cs", "Co", "Cn")),
    st.sampled_from("<|endoftext|> \n\t'’aB1中é"),
)


def any_text(size: int) -> st.SearchStrategy[str]:
    return st.text(CHARACTERS, max_size=size)
