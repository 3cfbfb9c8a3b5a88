"""What calls of a model cost: a ledger of tokens and money, and a limit before each call.

The ledger holds numbers and names of models, and no text. A call first reserves the most that it
may take; what it took is written over that when it ends. So several processes at once stay within
the limit, and one that is killed leaves its reservation.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from ibid.answering.budget import count_prompt, estimate_tokens
from ibid.errors import ModelUnavailable
from ibid.protocols import Generator, Window, Windowed
from ibid.records import Delta, Prompt

KEPT_DAYS: Final = 31

_BUSY_SECONDS: Final = 30.0

_SCHEMA: Final = """
create table if not exists calls (
    id integer primary key,
    day text not null,
    model text not null,
    prompt_tokens integer not null,
    completion_tokens integer not null,
    money real not null
)
"""


@dataclass(frozen=True, slots=True)
class Rate:
    """The price of a million tokens, sent and written, in a currency of the user's own."""

    input: float = 0.0
    output: float = 0.0


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be spent in a day (UTC), over all libraries and processes of a user; None: any."""

    tokens: int | None = None
    money: float | None = None


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens and money of one call, or of a day."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    money: float = 0.0

    @property
    def tokens(self) -> int:
        """All tokens, sent and written."""
        return self.prompt_tokens + self.completion_tokens


class Ledger:
    """A small database of what was spent, safe to be used by several processes at once."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def reserve(self, model: str, most: Spent, budget: Budget) -> int:
        """The number of a call that may take so much. Raises ModelUnavailable beyond the budget."""
        today = datetime.now(UTC).date()
        with self._transaction() as connection:
            oldest = (today - timedelta(days=KEPT_DAYS)).isoformat()
            connection.execute("delete from calls where day < ?", (oldest,))
            _check_budget(_sum_day(connection, today.isoformat()), most, budget)
            row = (today.isoformat(), model, most.prompt_tokens, most.completion_tokens, most.money)
            call = connection.execute(
                "insert into calls (day, model, prompt_tokens, completion_tokens, money) "
                "values (?, ?, ?, ?, ?)",
                row,
            ).lastrowid
        assert call is not None
        return call

    def settle(self, call: int, spent: Spent) -> None:
        """Write down what a call took in place of what it might have."""
        with self._transaction() as connection:
            connection.execute(
                "update calls set prompt_tokens = ?, completion_tokens = ?, money = ? where id = ?",
                (spent.prompt_tokens, spent.completion_tokens, spent.money, call),
            )

    def sum_today(self) -> Spent:
        """What was spent and reserved today."""
        with self._transaction() as connection:
            return _sum_day(connection, datetime.now(UTC).date().isoformat())

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """One transaction that no other process interrupts. Raises ModelUnavailable."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            with closing(sqlite3.connect(self.path, timeout=_BUSY_SECONDS)) as connection:
                connection.isolation_level = None
                connection.execute("begin immediate")
                connection.execute(_SCHEMA)
                yield connection
                connection.execute("commit")
        except (OSError, sqlite3.Error) as error:
            raise ModelUnavailable(
                f"what was spent can't be written to {self.path}: {error}",
                hint="mend or remove the file, or take the limits of spending away",
            ) from error


def _sum_day(connection: sqlite3.Connection, day: str) -> Spent:
    row = connection.execute(
        "select coalesce(sum(prompt_tokens), 0), coalesce(sum(completion_tokens), 0), "
        "coalesce(sum(money), 0.0) from calls where day = ?",
        (day,),
    ).fetchone()
    return Spent(*row)


def _check_budget(spent: Spent, most: Spent, budget: Budget) -> None:
    for unit, before, more, limit in (
        ("tokens", spent.tokens, most.tokens, budget.tokens),
        ("money", spent.money, most.money, budget.money),
    ):
        if limit is not None and before + more > limit:
            raise ModelUnavailable(
                f"the limit of spending is reached: {_tell(before)} {unit} of today's "
                f"{_tell(limit)} are spent, and this call may take {_tell(more)}",
                hint=f"wait for tomorrow (UTC), raise spending.{unit}_a_day, "
                "or use a model on this machine",
            )


def _tell(amount: float) -> str:
    return f"{amount:,}" if isinstance(amount, int) else f"{amount:,.4f}"


class MeteredGenerator:
    """A generator whose calls are counted, and refused before they are made beyond the budget."""

    def __init__(
        self,
        generator: Generator,
        ledger: Ledger,
        budget: Budget,
        rate: Rate,
        *,
        output_tokens: int,
    ) -> None:
        self.name = generator.name
        self.remote = generator.remote
        self._generator = generator
        self._ledger = ledger
        self._budget = budget
        self._rate = rate
        self._output_tokens = output_tokens

    def find_window(self) -> Window | None:
        """What the generator's model holds."""
        metered = self._generator
        return metered.find_window() if isinstance(metered, Windowed) else None

    def generate(self, prompt: Prompt) -> Iterator[Delta]:
        """The pieces of the answer. Raises ModelUnavailable where the budget doesn't allow it.

        A call that breaks off, or is hung up on, counts with what was sent and received of it; one
        that the endpoint does not take costs nothing.
        """
        sent = count_prompt(prompt)
        most = self._price(sent, self._output_tokens)
        call = self._ledger.reserve(self.name, most, self._budget)
        received: list[str] = []
        told = Spent()
        try:
            for delta in self._generator.generate(prompt):
                received.append(delta.text)
                told = Spent(  # a generator of anyone's: what it tells lowers no sum
                    told.prompt_tokens + max(0, delta.prompt_tokens),
                    told.completion_tokens + max(0, delta.completion_tokens),
                )
                yield delta
        except ModelUnavailable:
            sent = sent if received else 0
            raise
        finally:
            written = told.completion_tokens or estimate_tokens("".join(received))
            self._ledger.settle(call, self._price(told.prompt_tokens or sent, written))

    def close(self) -> None:
        """Close what the generator holds open."""
        close = getattr(self._generator, "close", None)
        if close is not None:
            close()

    def _price(self, sent: int, written: int) -> Spent:
        money = (sent * self._rate.input + written * self._rate.output) / 1e6
        return Spent(sent, written, money)
