"""The wire to models that are served over HTTP: JSON out, JSON or a stream of events back.

It knows no vendor: what is in the JSON is the business of the adapters in the rooms above.
Failures become the errors of a model, and no message ever holds the key.
"""

from ibid.wire.endpoint import PayloadTooLarge, Refused, Wire, is_loopback, sign_bearer
from ibid.wire.line import Line, holding

__all__ = [
    "Line",
    "PayloadTooLarge",
    "Refused",
    "Wire",
    "holding",
    "is_loopback",
    "sign_bearer",
]
