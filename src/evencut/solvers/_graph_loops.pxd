# What other compiled loops use of `_graph_loops.py`.

cimport cython

@cython.final
cdef class Graph:
    cdef const long long[::1] indptr
    cdef const int[::1] indices
    cdef const double[::1] data
    cdef const double[::1] diagonal
    cdef const double[::1] weights


cdef long long random_below(unsigned long long[::1] state, long long bound) except? -1 nogil
cdef int sort_members(const int[::1] parent, int[::1] members, long long[::1] start) except? -1 nogil
