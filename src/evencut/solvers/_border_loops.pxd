# What other compiled loops use of `_border_loops.py`.

cimport cython

from evencut.solvers._graph_loops cimport Graph

@cython.final
cdef class Borders:
    cdef Graph graph
    cdef int[::1] labels
    cdef double[::1] inside
    cdef double[::1] weight
    cdef long long[::1] count
    cdef double floor
    cdef int[::1] queue
    cdef unsigned char[::1] waiting
    cdef Py_ssize_t n_waiting
    cdef double[::1] link
    cdef long long[::1] seen
    cdef int[:, ::1] log
    cdef Py_ssize_t logged
    cdef double gain
    cdef double to_old
    cdef double to_new


cdef int sum_clusters(Borders borders) except? -1 nogil
cdef double energy_of(Borders borders) except? -1 nogil
cdef double largest_ratio(Borders borders) except? -1 nogil
cdef bint settle(Borders borders, long long max_moves) except? -1 nogil
