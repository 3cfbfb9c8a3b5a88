"""The verb that looks for better settings: tune."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ibid.cli.call import Call, Outcome, verb
from ibid.cli.words import count_words, join_words, make_table
from ibid.cli.writing import show_progress
from ibid.shapes.inspection import shape_tuned

if TYPE_CHECKING:
    from ibid.flows.tune import Tuned
    from ibid.shapes import Shape


@verb
@click.argument("golden", type=click.Path(dir_okay=False, path_type=Path), required=False)
@click.option("--seed", type=int, default=7, help="Of what is tried and held out (7).")
@click.option("--candidates", type=click.IntRange(2), default=24, help="How many are tried (24).")
@click.option(
    "--chunking",
    "chunkings",
    multiple=True,
    metavar="BY/SIZE/OVERLAP",
    help="A way of cutting to try, such as words/120/30; or none.",
)
@click.option(
    "--rerank", "rerankers", multiple=True, metavar="NAME", help="A reranker to try beside others."
)
@click.option("--apply", is_flag=True, help="Write the winner into the library's config.toml.")
def tune_command(
    call: Call,
    golden: Path | None,
    seed: int,
    candidates: int,
    chunkings: tuple[str, ...],
    rerankers: tuple[str, ...],
    apply: bool,
) -> Outcome:
    """Look for settings that find more of what golden questions expect.

    Half of the questions are held out: on these the winner has to be better than what is in force,
    or as good with fewer tokens. A run that was stopped goes on where it was. Without --apply
    nothing is changed.
    """
    from ibid.evaluation.tuning import SPACE
    from ibid.flows.tune import CHUNKINGS, TuneOptions
    from ibid.settings import CONFIG_FILE
    from ibid.settings.writing import write_settings

    reranking = tuple(dict.fromkeys((*SPACE["search.rerank"], *rerankers)))
    options = TuneOptions(
        candidates=candidates,
        chunkings=tuple(name for name in chunkings if name != "none") if chunkings else CHUNKINGS,
        space={**SPACE, "search.rerank": reranking},
        seed=seed,
    )
    with (
        call.open_library(sends=("embedder", "reranker")) as library,
        show_progress("documents", "cutting") as on_progress,
    ):
        tuned = library.tune(library.read_golden(golden), options, on_progress=on_progress)
    if apply and tuned.settings:
        write_settings(Path(call.find_library()) / CONFIG_FILE, tuned.settings)
    shape = shape_tuned(tuned, applied=apply and bool(tuned.settings))
    return Outcome(shape, _tell_tuned(tuned, shape))


def _tell_tuned(tuned: Tuned, shape: Shape) -> str:
    table = make_table(
        [
            ("nDCG", "recall", "tokens", "ms", "questions", "settings"),
            *(
                (
                    f"{row['ndcg']:.3f}",
                    f"{row['recall']:.3f}",
                    f"{row['tokens']:.0f}",
                    f"{row['milliseconds']:.0f}",
                    str(row["questions"]),
                    row["settings"],
                )
                for row in shape["table"]
            ),
        ]
    )
    told = make_table(
        (
            name,
            f"nDCG {one['mean']:.3f} ({one['low']:.3f} to {one['high']:.3f})",
            f"{one['tokens']:.0f} tokens sent",
            f"{one['milliseconds']:.0f} ms",
        )
        for name, one in (("in force", shape["before"]), ("the best tried", shape["tried"]))
    )
    held = f"on the {count_words(tuned.difference.n, 'question')} held out:"
    told += (
        f"\nthe best tried: {tuned.choice}; chance makes such a difference: {_tell_chance(tuned)}"
    )
    return join_words(table, f"{held}\n{told}", "\n".join(_tell_next(tuned, shape)), by="\n\n")


def _tell_chance(tuned: Tuned) -> str:
    return f"p = {tuned.difference.p:.2f}" if tuned.difference.mean else "there is none"


def _tell_next(tuned: Tuned, shape: Shape) -> Iterator[str]:
    if not tuned.settings:
        yield "nothing tried is better on these: what is in force stays"
        return
    yield from (f"{key} = {value}" for key, value in shape["settings"].items())
    if not shape["applied"]:
        yield "`ibid tune --apply` writes this into the library's config.toml"
    elif shape["reindex"]:
        yield "written; now run `ibid reindex`, which cuts the documents anew"
    else:
        yield "written into the library's config.toml"
