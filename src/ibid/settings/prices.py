"""The prices of models, as `config.toml` writes them: `[prices."name"]`, input and output."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields

from ibid.errors import BadSetting
from ibid.settings.sections import Price, Scalar, Settings

PRICES = "prices"

_NAMES = tuple(field.name for field in fields(Price))


def read_prices(table: object, where: str) -> dict[str, Price]:
    """The prices of a table by model. Raises BadSetting, naming `where` it stands."""
    if not isinstance(table, dict):
        raise _refuse(where, PRICES)
    return {str(model): _read_price(price, where, str(model)) for model, price in table.items()}


def _read_price(price: object, where: str, model: str) -> Price:
    if not isinstance(price, dict) or set(price) != set(_NAMES):
        raise _refuse(where, model)
    amounts = [price[name] for name in _NAMES]
    if not all(type(a) in (int, float) and 0 <= a < math.inf for a in amounts):
        raise _refuse(where, model)
    return Price(*map(float, amounts))


def _refuse(where: str, model: str) -> BadSetting:
    return BadSetting(
        f"{where}: the price of {model} can't be used",
        hint=f'write [prices."{model}"] with input and output, what a million tokens cost',
    )


def describe_prices(settings: Settings) -> Iterator[dict[str, Scalar]]:
    """Rows for the prices, like those of other settings; they have no variable."""
    for model, price in settings.prices.items():
        for name in _NAMES:
            yield {
                "key": f'{PRICES}."{model}".{name}',
                "value": getattr(price, name),
                "origin": settings.origins.get(f"{PRICES}.{model}", "default"),
                "variable": None,
                "default": None,
                "allowed": "a number from 0",
                "help": f"price of a million tokens, {name}",
            }
