"""What the page sends: a field that nobody knows is refused."""

from pydantic import BaseModel, ConfigDict


class Sent(BaseModel):
    """The fields of a request."""

    model_config = ConfigDict(extra="forbid")
