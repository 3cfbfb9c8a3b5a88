"""All that the asker may see, sent at once: cited and checked, within the window, and no more."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

import ibid
from command_line import call
from ibid.protocols import Window
from ibid.testing.embedders import HashingEmbedder
from ibid.testing.generators import ScriptedGenerator
from ibid.testing.servers import serve
from model_server import say_openai, stream

PAGES: Final = [
    ibid.Document("leave", "# Leave\n\nParental leave lasts sixteen weeks."),
    ibid.Document("travel", "# Travel\n\nA hotel night is paid up to 140 euros."),
    ibid.Document("copy", "# Travel\n\nA hotel night is paid up to 140 euros."),
    ibid.Document("secret", "# Pay\n\nParental pay is 7,000 euros.", allow=frozenset({"user:ann"})),
]
QUESTION: Final = "How long is parental leave?"


class Model(ScriptedGenerator):
    """A scripted generator with a language model that holds so much."""

    def __init__(
        self, context: int | None = 8000, text: str = "It lasts sixteen weeks [1]."
    ) -> None:
        super().__init__(lambda prompt: text)
        self.window = None if context is None else Window(context, 100)

    def find_window(self) -> Window | None:
        return self.window


@pytest.fixture
def place(tmp_path: Path) -> Path:
    with ibid.open(tmp_path / "library", embedder=HashingEmbedder()) as library:
        library.ingest(PAGES)
    return tmp_path / "library"


def ask(place: Path, model: Any, question: str = QUESTION, **options: Any) -> ibid.Answer:
    with ibid.open(place, embedder=HashingEmbedder(), generator=model) as library:
        return library.ask(question, **options)


def test_all_that_may_be_seen_is_sent_in_a_lasting_order(place: Path) -> None:
    model = Model()
    answer = ask(place, model, context="whole", k=1)
    other = ask(place, model, "What is paid for a hotel night?", context="whole", k=1)
    assert [hit.document_id for hit in answer.sources] == ["leave", "travel"]  # the same text once
    assert [hit.document_id for hit in other.sources] == ["leave", "travel"]
    assert [hit.rank for hit in answer.sources] == [1, 2]
    assert answer.request.whole
    assert answer.citations[0].verdict is ibid.Verdict.SUPPORTED
    first, second = (prompt.messages[-1].content for prompt in model.prompts)
    assert first.rpartition("Question: ")[0] == second.rpartition("Question: ")[0]


def test_what_is_hidden_is_never_sent(place: Path) -> None:
    model = Model()
    ask(place, model, context="whole")
    assert "7,000" not in str(model.prompts)
    ann = ask(place, model, context="whole", principals={"user:ann"})
    assert [hit.document_id for hit in ann.sources] == ["leave", "travel", "secret"]
    narrow = ask(place, model, context="whole", filter='id = "leave"')
    assert [hit.document_id for hit in narrow.sources] == ["leave"]


def test_what_does_not_fit_is_refused_or_searched_for(place: Path) -> None:
    tight = Model(context=460)
    with pytest.raises(ibid.BadQuery, match="tokens, and the model has room for 360"):
        ask(place, tight, context="whole")
    assert tight.prompts == []
    answer = ask(place, tight, context="auto")
    assert not answer.request.whole
    assert "sources were left out: the model holds 460 tokens" in answer.warnings[0]
    assert ask(place, Model(), context="auto").request.whole


def test_a_text_that_is_far_too_long_is_not_even_read(place: Path) -> None:
    with ibid.open(place, embedder=HashingEmbedder()) as library:
        library.ingest(ibid.Document("book", "A long story of the sea. " * 1000))
    with pytest.raises(ibid.BadQuery, match="all of it takes about"):
        ask(place, Model(context=4000), context="whole")


def test_a_window_that_nobody_knows_is_told_of(place: Path) -> None:
    with pytest.raises(ibid.BadSetting, match="nobody says how much this model holds"):
        ask(place, Model(context=None), context="whole")
    assert not ask(place, Model(context=None), context="auto").request.whole


def test_without_a_model_whole_considers_every_passage(place: Path) -> None:
    with ibid.open(place, embedder=HashingEmbedder()) as library:
        answer = library.ask(QUESTION, k=1, context="whole")
    assert answer.status is ibid.AnswerStatus.ANSWERED
    assert len(answer.sources) == 2
    assert answer.sources[0].document_id == "leave"  # best first
    assert not answer.request.whole


def test_the_flag_sends_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = tmp_path / "library"
    for name, text in (
        ("leave.md", "Leave lasts sixteen weeks."),
        ("fern.md", "Ferns like shade."),
    ):
        (tmp_path / name).write_text(text)
        added = call("add", tmp_path / name, "--id", name, "--library", library)
        assert added.code == 0
    said = stream(say_openai(["Leave lasts sixteen weeks [1]."]))
    with serve(lambda body: said) as server:
        for name, value in {
            "NAME": "openai",
            "MODEL": "m",
            "BASE_URL": server.url,
            "CONTEXT_TOKENS": "4000",
        }.items():
            monkeypatch.setenv(f"IBID_GENERATOR_{name}", value)
        done = call(
            "ask", "How long is leave?", "--sources", "1", "--whole", "--library", library, "--json"
        )
        assert "Ferns like shade." in server.bodies[0]["messages"][-1]["content"]
    assert (done.code, done.json["request"]["whole"], len(done.json["sources"])) == (0, True, 2)
