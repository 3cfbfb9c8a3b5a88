"""What is said of replies in the OpenAPI document: a model of each, and the shape of errors.

The models describe what `ibid.shapes` makes, and stand in the way of no reply: none is built from
them. `tests/test_service_api.py` holds the replies of every route against them.
"""

from ibid.service.replies.examples import add_examples
from ibid.service.replies.failures import FAILURES, Failure
from ibid.service.replies.model import Reply, describe

__all__ = ["FAILURES", "Failure", "Reply", "add_examples", "describe"]
