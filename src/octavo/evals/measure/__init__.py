"""What a compression kept, measured without any model: values in, numbers out.

Every measure is a function of the original messages and of the text that was made of them, never of how it was made,
so all compressors are measured alike. What a fact is, and whether it is kept, is the receipt's own definition.
"""
