"""A door to the GPU: torch tensors in, torch tensors out, and kernels that never form the matrix.

Nothing here is loaded by `import evencut`; torch is imported when a tensor comes in.
"""
