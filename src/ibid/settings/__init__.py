"""Settings: what they are, where each value came from, and which library is meant.

A setting is declared once, as a field in `sections.py`; its key in `config.toml` (`search.k`), its
name in the environment (`IBID_SEARCH_K`) and its line in `ibid config` follow from that. Later
wins: default, the user's `config.toml`, the library's, environment, flags. Nothing is read from a
synced folder.
"""

from ibid.settings.loading import CONFIG_FILE, load_settings, settings_hash
from ibid.settings.places import find_library, find_user_dir, hide_password
from ibid.settings.prices import describe_prices
from ibid.settings.sections import NO_METHODS, Scalar, Settings
from ibid.settings.table import SETTINGS, Setting, describe_settings

__all__ = [
    "CONFIG_FILE",
    "NO_METHODS",
    "SETTINGS",
    "Scalar",
    "Setting",
    "Settings",
    "describe_prices",
    "describe_settings",
    "find_library",
    "find_user_dir",
    "hide_password",
    "load_settings",
    "settings_hash",
]
