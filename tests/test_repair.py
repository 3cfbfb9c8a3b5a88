"""Claims that no source supports are written once again by the model, or stay marked."""

from __future__ import annotations

from pathlib import Path

import pytest

import ibid
from command_line import call
from ibid.answering.no_answer import NO_ANSWER
from ibid.answering.repair import ask_repair
from ibid.errors import ModelUnavailable
from ibid.openers import open_library
from ibid.protocols import Window
from ibid.records import Answer, AnswerStatus, Citation, Claim, Prompt, Verdict
from ibid.settings import load_settings
from ibid.settings.sections import Scalar
from ibid.testing.embedders import HashingEmbedder
from ibid.testing.generators import Reply, ScriptedGenerator
from ibid.testing.servers import serve
from model_server import say_openai, stream

TEXT = "The north lighthouse was built in 1871. Its keeper lights the lamp at dusk every day."
TRUE = "The keeper lights the lamp at dusk [1]."
WRONG = "The north lighthouse was built in 1917 [1]."
MENDED = "The north lighthouse was built in 1871 [1]."
QUESTION = "When was the north lighthouse built?"


class Model(ScriptedGenerator):
    """A script that holds so many tokens, as a language model does."""

    def __init__(self, *replies: Reply, window: Window | None = None) -> None:
        super().__init__(replies, name="model")
        self._window = window

    def find_window(self) -> Window | None:
        return self._window


@pytest.fixture
def library_path(tmp_path: Path) -> Path:
    path = tmp_path / "library"
    with ibid.open(path, embedder=HashingEmbedder()) as library:
        library.ingest(ibid.Document(id="lighthouse.md", text=TEXT))
    return path


def ask(path: Path, generator: ScriptedGenerator, **settings: Scalar) -> Answer:
    chosen = load_settings({"ask.abstain": 1, **settings})
    with open_library(
        path, embedder=HashingEmbedder(), generator=generator, settings=chosen
    ) as library:
        return library.ask(QUESTION)


def name_endpoint(url: str) -> dict[str, str]:
    return {"generator.name": "openai", "generator.base_url": url, "generator.model": "m"}


def list_verdicts(answer: Answer) -> list[Verdict]:
    return [citation.verdict for citation in answer.citations]


def test_a_claim_without_support_is_written_again(library_path: Path) -> None:
    model = Model(f"{TRUE} {WRONG}", f"{TRUE} {MENDED}")
    answer = ask(library_path, model)
    assert answer.text == f"{TRUE} {MENDED}"
    assert list_verdicts(answer) == [Verdict.SUPPORTED, Verdict.SUPPORTED]
    assert answer.warnings == ()


def test_the_request_names_claim_difference_and_source(library_path: Path) -> None:
    model = Model(f"{TRUE} {WRONG}", f"{TRUE} {MENDED}")
    ask(library_path, model)
    first, second = model.prompts
    assert second.messages[: len(first.messages)] == first.messages
    assert second.sources == first.sources
    written, request = second.messages[len(first.messages) :]
    assert (written.role, written.content) == ("assistant", f"{TRUE} {WRONG}")
    assert "“The north lighthouse was built in 1917” [1]" in request.content
    assert "1871" in request.content
    assert "at dusk" not in request.content
    assert second.history == (QUESTION, f"{TRUE} {WRONG}")


def test_one_request_is_made_and_what_still_lacks_support_stays_marked(library_path: Path) -> None:
    model = Model(f"{TRUE} {WRONG}", f"{TRUE} It was built in 1899 [1].")
    answer = ask(library_path, model)
    assert len(model.prompts) == 2
    assert answer.text == f"{TRUE} {WRONG}"
    assert list_verdicts(answer) == [Verdict.SUPPORTED, Verdict.UNSUPPORTED]
    assert any("could not be confirmed" in warning for warning in answer.warnings)


def test_a_reply_that_loses_what_was_supported_is_not_taken(library_path: Path) -> None:
    answer = ask(library_path, Model(f"{TRUE} {MENDED} {WRONG}", MENDED))
    assert answer.text == f"{TRUE} {MENDED} {WRONG}"


def test_an_answer_of_which_nothing_holds_may_be_taken_back(library_path: Path) -> None:
    answer = ask(library_path, Model(WRONG, NO_ANSWER))
    assert answer.status is AnswerStatus.ABSTAINED
    kept = ask(library_path, Model(f"{TRUE} {WRONG}", NO_ANSWER))
    assert (kept.status, kept.text) == (AnswerStatus.ANSWERED, f"{TRUE} {WRONG}")


def test_a_strict_answer_is_mended_before_anything_is_left_out(library_path: Path) -> None:
    mended = ask(library_path, Model(f"{TRUE} {WRONG}", f"{TRUE} {MENDED}"), **{"ask.strict": True})
    assert mended.text == f"{TRUE} {MENDED}"
    dropped = ask(library_path, Model(f"{TRUE} {WRONG}", WRONG), **{"ask.strict": True})
    assert dropped.text == TRUE


def test_a_true_answer_costs_no_second_request(library_path: Path) -> None:
    model = Model(f"{TRUE} {MENDED}")
    ask(library_path, model)
    assert len(model.prompts) == 1


@pytest.mark.parametrize("settings", [{"ask.repair": False}, {}])
def test_nothing_is_asked_where_it_is_off_or_no_model_is_there(
    library_path: Path, settings: dict[str, Scalar]
) -> None:
    plain = ScriptedGenerator([WRONG])
    generator = Model(WRONG) if settings else plain
    answer = ask(library_path, generator, **settings)
    assert len(generator.prompts) == 1
    assert list_verdicts(answer) == [Verdict.UNSUPPORTED]


def test_a_model_that_fails_leaves_the_first_answer_and_says_so(library_path: Path) -> None:
    answer = ask(library_path, Model(WRONG, ModelUnavailable("the limit of spending is reached")))
    assert answer.text == WRONG
    assert any("the limit of spending is reached" in warning for warning in answer.warnings)


def test_a_request_that_does_not_fit_the_window_is_not_made(library_path: Path) -> None:
    probe = Model(WRONG, MENDED)
    ask(library_path, probe)
    first = sum(len(m.content) for m in probe.prompts[0].messages)
    for tokens in range(first // 4, first, 10):
        model = Model(WRONG, MENDED, window=Window(tokens + 10, 10))
        try:
            answer = ask(library_path, model)
        except ibid.IbidError:
            continue
        assert (answer.text, len(model.prompts)) == (WRONG, 1)
        break
    else:
        pytest.fail("no window held the first prompt and not the second")


def test_both_requests_are_counted_and_told(library_path: Path) -> None:
    replies = [f"{TRUE} {WRONG}", f"{TRUE} {MENDED}"]
    with serve(lambda body: stream(say_openai([replies[len(body["messages"]) > 2]]))) as server:
        settings = load_settings({"ask.abstain": 1, **name_endpoint(server.url)})
        with open_library(library_path, embedder=HashingEmbedder(), settings=settings) as library:
            answer = library.ask(QUESTION)
        sent = server.bodies
    assert len(sent) == 2
    assert [message["role"] for message in sent[1]["messages"][-2:]] == ["assistant", "user"]
    assert answer.text == f"{TRUE} {MENDED}"
    assert answer.tokens == {"prompt": 180, "completion": 14}
    (step,) = (step for step in answer.trace if step.stage == "repair")
    assert step.detail == "asked to mend 1 claims: 0 are left"
    assert (step.data["prompt_tokens"], step.data["completion_tokens"]) == (90, 7)


def test_what_was_streamed_is_followed_by_the_mended_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lighthouse.md").write_text(TEXT)
    library = ("--library", tmp_path / "library")
    assert call("add", tmp_path / "lighthouse.md", "--id", "lighthouse.md", *library).code == 0
    replies = [f"{TRUE} {WRONG}", f"{TRUE} {MENDED}"]
    with serve(lambda body: stream(say_openai([replies[len(body["messages"]) > 2]]))) as server:
        for name, value in name_endpoint(server.url).items():
            monkeypatch.setenv(f"IBID_{name.upper().replace('.', '_')}", value)
        streamed = call("ask", QUESTION, "--stream", *library)
        replies[1] = replies[0] = f"{TRUE} {MENDED}"
        once = call("ask", QUESTION, "--stream", *library)
    assert streamed.out.startswith(f"{TRUE} {WRONG}\n\n{TRUE} {MENDED}\n")
    assert once.out.count(MENDED) == 1


def test_a_claim_that_cites_no_source_at_all_is_named_without_one() -> None:
    claim = Claim("The lamp is blue", 0, 16, (7,))
    lacking = Citation(7, claim, Verdict.NO_SUCH_SOURCE, "there is no source 7: 1 were sent")
    prompt = ask_repair(Prompt((), "?", (), "t"), "The lamp is blue [7].", [lacking])
    assert "- “The lamp is blue” [7]: there is no source 7: 1 were sent\n" in prompt.question


@pytest.mark.parametrize("said", [NO_ANSWER, "I don't know.", ""])
def test_a_model_that_knows_no_answer_is_not_asked_again(library_path: Path, said: str) -> None:
    model = Model(said)
    assert ask(library_path, model).status is AnswerStatus.ABSTAINED
    assert len(model.prompts) == 1
