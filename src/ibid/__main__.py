"""`python -m ibid` and the `ibid` command."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    from ibid.cli import run  # noqa: PLC0415  -- `python -m ibid --help` must stay light

    run()


if __name__ == "__main__":
    main()
