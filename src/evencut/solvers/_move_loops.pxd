# What other compiled loops use of `_move_loops.py`.

cimport cython

@cython.final
cdef class Clusters:
    cdef long long[::1] labels
    cdef double[::1] inside
    cdef double[::1] weight
    cdef long long[::1] count
    cdef double[::1] links


cdef Py_ssize_t sweep_table(
    const double[:, ::1] matrix, const double[::1] weights, Clusters clusters, double[:, ::1] table
) except? -1 nogil
