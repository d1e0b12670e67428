"""What the studio says no to: a status and a sentence that names the value, the limit and the cure."""

from __future__ import annotations


class Refused(Exception):
    """Something the user sent cannot be taken; shown on the page as it is.

    Examples
    --------
    >>> Refused("the file is empty.").status
    400
    """

    status = 400

    def __init__(self, message: str, status: int | None = None):
        super().__init__(message)
        self.message = message
        if status is not None:
            self.status = status

    def __reduce__(self) -> tuple:
        return type(self), (self.message, self.status)


class TooLarge(Refused):
    """It may be good, but there is too much of it."""

    status = 413
