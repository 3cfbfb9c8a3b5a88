"""Replies in the shapes that clients of OpenAI's service know."""

from __future__ import annotations

from typing import Any, Literal

from ibid.records import AnswerStatus
from ibid.service.replies.model import Reply


class ModelReply(Reply):
    """A model."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class ModelsReply(Reply):
    """All models: the library, and its embedder."""

    object: Literal["list"]
    data: list[ModelReply]


class UrlPlace(Reply):
    """Characters of the text, and where what they say is from."""

    start_index: int
    end_index: int
    url: str
    title: str


class Annotation(Reply):
    """A citation that leads somewhere."""

    type: Literal["url_citation"]
    url_citation: UrlPlace


class Said(Reply):
    """The answer as a message."""

    role: Literal["assistant"]
    content: str
    refusal: None
    annotations: list[Annotation]


class Choice(Reply):
    """The one answer that there is."""

    index: Literal[0]
    message: Said
    finish_reason: Literal["stop"]
    logprobs: None


class Usage(Reply):
    """The tokens of a completion."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class KeptAs(Reply):
    """Under which id the answer is kept, and its status."""

    answer_id: str
    status: AnswerStatus


class CompletionReply(Reply):
    """A chat completion; `ibid` is there where it is an answer from the documents."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[Choice]
    usage: Usage
    ibid: KeptAs | None = None


class EmbeddedText(Reply):
    """The vector of a text: numbers, or float32 in base64."""

    object: Literal["embedding"]
    index: int
    embedding: list[float] | str


class EmbeddingsReply(Reply):
    """The vectors of texts, in their order."""

    object: Literal["list"]
    model: str
    data: list[EmbeddedText]
    usage: dict[str, Any]
