"""Replies that tell of answers that were given."""

from __future__ import annotations

from ibid.records import AnswerStatus
from ibid.service.replies.documents import OnPage
from ibid.service.replies.model import Reply
from ibid.service.replies.questions import (
    AnswerReply,
    CheckedCitation,
    FoundPassage,
    Moment,
    Rating,
)


class Opinion(Reply):
    """What was said of an answer."""

    rating: Rating
    comment: str
    given_at: Moment


class ListedAnswer(Reply):
    """An answer as it is listed."""

    answer_id: str
    question: str
    status: AnswerStatus
    text: str
    documents: list[str]
    principals: list[str]
    version: int
    generator: str
    settings_hash: str
    prompt_hash: str
    asked_at: Moment
    feedback: list[Opinion]


class AnswersReply(Reply):
    """The newest answers, newest first."""

    answers: list[ListedAnswer]


class KeptAnswerReply(AnswerReply):
    """An answer as it was given, with the hits of its search and what was said of it."""

    hits: list[FoundPassage]
    asked_at: Moment
    feedback: list[Opinion]


class CitedPlace(CheckedCitation):
    """A cited place, with the text around its quote and its boxes on pages."""

    before: str
    after: str
    boxes: list[OnPage]
    version: int | None


class PlacesReply(Reply):
    """The places that an answer cites."""

    places: list[CitedPlace]


class ReplayReply(AnswerReply):
    """The answer that its question gets again, and whether it is the same."""

    identical: bool


class RatingReply(Reply):
    """What was noted."""

    answer_id: str
    rating: Rating
