"""What may be spent in a day: counted before each call, over all processes, in tokens and money."""

from __future__ import annotations

import stat
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

import ibid
from command_line import call
from ibid.answering.spending import Budget, Ledger, MeteredGenerator, Rate, Spent
from ibid.openers import choose_generator
from ibid.openers.generators import find_ledger, limit_spending
from ibid.protocols import Window
from ibid.records import Delta, Prompt
from ibid.settings import describe_prices, load_settings
from ibid.settings.sections import Price
from ibid.testing.embedders import HashingEmbedder
from ibid.testing.generator_suite import GeneratorSuite, Speaker, make_prompt
from ibid.testing.generators import ScriptedGenerator
from ibid.testing.servers import serve
from model_server import refuse, say_openai, stream

FREE: Final = Rate()


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "state" / "spending.db")


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


class Counting:
    """A generator that tells its counts in its last piece."""

    name = "m"
    remote = "https://models.example"

    def __init__(self, *pieces: str | BaseException, sent: int = 20, written: int = 5) -> None:
        self.calls = 0
        self._pieces = pieces
        self._counts = Delta("", sent, written)

    def generate(self, prompt: Prompt) -> Iterator[Delta]:
        self.calls += 1
        for piece in self._pieces:
            if isinstance(piece, BaseException):
                raise piece
            yield Delta(piece)
        yield self._counts


def meter(generator: Any, ledger: Ledger, *, rate: Rate = FREE, **budget: Any) -> MeteredGenerator:
    return MeteredGenerator(generator, ledger, Budget(**budget), rate, output_tokens=30)


def ask(generator: MeteredGenerator) -> str:
    return "".join(delta.text for delta in generator.generate(make_prompt()))


class TestMeteredGenerator(GeneratorSuite):
    @pytest.fixture
    def speak(self, ledger: Ledger) -> Speaker:
        return lambda pieces: meter(ScriptedGenerator([pieces] * 9), ledger, tokens=10**6)


def test_the_price_is_that_of_a_million_tokens(ledger: Ledger) -> None:
    """20 tokens at 2.50 and 5 at 10.00 a million: 0.00005 + 0.00005 = 0.0001."""
    ask(meter(Counting("yes"), ledger, rate=Rate(2.5, 10.0), money=1.0))
    spent = ledger.sum_today()
    assert (spent.prompt_tokens, spent.completion_tokens, spent.tokens) == (20, 5, 25)
    assert spent.money == pytest.approx(0.0001)


def test_a_call_that_could_pass_the_limit_is_not_made(ledger: Ledger) -> None:
    generator = Counting("yes")
    metered = meter(generator, ledger, tokens=100)
    for _ in range(2):
        assert ask(metered) == "yes"
    with pytest.raises(ibid.ModelUnavailable, match=r"50 tokens of today's 100 are spent") as told:
        ask(metered)
    assert "spending.tokens_a_day" in told.value.hint
    assert (generator.calls, ledger.sum_today().tokens) == (2, 50)
    with pytest.raises(ibid.ModelUnavailable, match="money of today's"):
        ask(meter(generator, ledger, rate=Rate(0, 1e6), money=29.0))
    assert generator.calls == 2


def test_what_a_call_took_is_counted_however_it_ends(ledger: Ledger) -> None:
    reading = meter(Counting("four words or so"), ledger, tokens=1000).generate(make_prompt())
    next(iter(reading))
    assert ledger.sum_today().completion_tokens == 30  # reserved
    reading.close()  # type: ignore[attr-defined]  # it is a generator
    hung_up = ledger.sum_today()
    assert 0 < hung_up.completion_tokens < 10
    assert hung_up.prompt_tokens > 0
    slow = ibid.ModelTimeout("slow")
    with pytest.raises(ibid.ModelTimeout):
        ask(meter(Counting(slow), ledger, tokens=1000))
    timed_out = ledger.sum_today()
    assert timed_out.prompt_tokens == 2 * hung_up.prompt_tokens
    with pytest.raises(ibid.ModelUnavailable):
        ask(meter(Counting(ibid.ModelUnavailable("wrong key")), ledger, tokens=1000))
    assert ledger.sum_today() == timed_out


def test_yesterday_counts_no_more_and_old_days_go(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime.now(UTC)

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return now

    monkeypatch.setattr("ibid.answering.spending.datetime", Clock)
    ask(meter(Counting("yes"), ledger, tokens=60))
    now += timedelta(days=1)
    assert ledger.sum_today() == Spent()
    ask(meter(Counting("yes"), ledger, tokens=60))
    now += timedelta(days=60)
    ask(meter(Counting("yes"), ledger, tokens=60))
    now -= timedelta(days=60)
    assert ledger.sum_today() == Spent()


RESERVE: Final = """
import sys
from pathlib import Path
from ibid.answering.spending import Budget, Ledger, Spent
from ibid.errors import ModelUnavailable
made = 0
for _ in range(40):
    try:
        Ledger(Path(sys.argv[1])).reserve("m", Spent(1, 0), Budget(tokens=50))
        made += 1
    except ModelUnavailable:
        pass
print(made)
"""


def test_processes_at_once_stay_within_the_limit(ledger: Ledger) -> None:
    command = [sys.executable, "-c", RESERVE, str(ledger.path)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert sum(int(process.communicate()[0]) for process in running) == 50
    assert ledger.sum_today().tokens == 50


def test_the_ledger_is_for_its_user_alone_and_holds_no_text(ledger: Ledger) -> None:
    generator = Counting("a very private answer")
    metered = meter(generator, ledger, tokens=1000)
    list(metered.generate(make_prompt("a very private question")))
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600
    assert b"private" not in ledger.path.read_bytes()


def test_a_broken_ledger_stops_calls_and_says_so(ledger: Ledger) -> None:
    ledger.path.parent.mkdir()
    ledger.path.write_bytes(b"no database, and long enough to be looked at" * 9)
    with pytest.raises(ibid.ModelUnavailable, match=r"spending\.db"):
        ask(meter(Counting("yes"), ledger, tokens=1000))


# -- from settings --------------------------------------------------------------------------------

CONFIG: Final = """
[spending]
money_a_day = 0.5

[prices."m"]
input = 2
output = 10.5
"""


def test_prices_are_read_from_the_files(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(CONFIG)
    settings = load_settings(user_dir=tmp_path)
    assert settings.prices == {"m": Price(2.0, 10.5)}
    rows = {row["key"]: row for row in describe_prices(settings)}
    assert rows['prices."m".output']["value"] == 10.5
    assert rows['prices."m".input']["origin"] == str(tmp_path / "config.toml")
    library = tmp_path / "library"
    library.mkdir()
    (library / "config.toml").write_text('[prices."x"]\ninput = 1\noutput = 1\n')
    both = load_settings(user_dir=tmp_path, library=str(library))
    assert both.prices == {"m": Price(2.0, 10.5), "x": Price(1.0, 1.0)}


@pytest.mark.parametrize(
    "text",
    [
        "prices = 3",
        "[prices]\nm = 3",
        '[prices."m"]\ninput = 1',
        '[prices."m"]\ninput = -1\noutput = 1',
        '[prices."m"]\ninput = "1"\noutput = 1',
        '[prices."m"]\ninput = 1\noutput = 1\nmore = 1',
    ],
)
def test_a_price_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(ibid.BadSetting, match=r"config\.toml: the price of"):
        load_settings(user_dir=tmp_path)


def test_only_what_is_paid_for_is_counted() -> None:
    far, near = Counting("yes"), ScriptedGenerator([], name="near")
    free = load_settings()
    assert limit_spending(far, free) is far
    tokens = load_settings({"spending.tokens_a_day": 9})
    assert limit_spending(near, tokens) is near
    assert isinstance(limit_spending(far, tokens), MeteredGenerator)
    with pytest.raises(ibid.BadSetting, match="m has no price"):
        limit_spending(far, load_settings({"spending.money_a_day": 1.0}))


def test_a_local_address_with_a_price_is_paid_for(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(CONFIG)
    flags: dict[str, Any] = {
        "generator.name": "openai",
        "generator.model": "m",
        "generator.context_tokens": 9000,
    }
    with serve(lambda body: stream(say_openai(["yes"]))) as server:
        flags["generator.base_url"] = server.url
        settings = load_settings(flags, user_dir=tmp_path)
        generator = choose_generator(None, settings, HashingEmbedder())()
        assert isinstance(generator, MeteredGenerator)
        assert generator.find_window() == Window(9000, 1024)
        assert [d.text for d in generator.generate(make_prompt()) if d.text] == ["yes"]
        generator.close()
    assert Ledger(find_ledger()).sum_today().tokens == 97


def test_the_command_line_says_that_the_limit_is_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "library"
    page = tmp_path / "leave.md"
    page.write_text("Leave lasts sixteen weeks.")
    assert call("add", page, "--id", "leave.md", "--library", library).code == 0
    (library / "config.toml").write_text(CONFIG.replace("0.5", "0.005"))
    monkeypatch.setenv("IBID_GENERATOR_NAME", "openai")
    monkeypatch.setenv("IBID_GENERATOR_MODEL", "m")
    with serve(lambda body: stream(say_openai(["sixteen weeks [1]."]))) as server:
        monkeypatch.setenv("IBID_GENERATOR_BASE_URL", server.url)
        done = call("ask", "How long is leave?", "--library", library, "--json")
        assert (done.code, server.bodies) == (4, [])
    assert done.json["error"]["type"] == "ModelUnavailable"
    assert "the limit of spending is reached" in done.json["error"]["message"]
    assert "spending.money_a_day" in done.json["error"]["hint"]


def test_doctor_tells_what_was_spent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IBID_LIBRARY", str(tmp_path / "library"))
    assert "spending" not in call("doctor").out
    monkeypatch.setenv("IBID_SPENDING_TOKENS_A_DAY", "1000")
    most = Spent(20, 5, 0.25)
    Ledger(find_ledger()).reserve("m", most, Budget(tokens=1000))
    assert "25 tokens, 0.25 in money today (UTC)" in call("doctor").out


def test_a_refused_call_costs_nothing(tmp_path: Path) -> None:
    flags: dict[str, Any] = {
        "generator.name": "openai",
        "generator.model": "m",
        "generator.retries": 0,
    }
    (tmp_path / "config.toml").write_text(CONFIG)
    with serve(lambda body: refuse(401)) as server:
        flags["generator.base_url"] = server.url
        settings = load_settings(flags, user_dir=tmp_path)
        generator = choose_generator(None, settings, HashingEmbedder())()
        with pytest.raises(ibid.ModelUnavailable, match="401"):
            list(generator.generate(make_prompt()))
    assert Ledger(find_ledger()).sum_today() == Spent()
