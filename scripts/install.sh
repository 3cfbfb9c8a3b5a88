# Sourced by ./run and ./check: install_ibid EXTRAS makes .venv with ibid and those extras in it,
# and does nothing when it last did so after pyproject.toml changed. No program is started to find
# that out: every call pays for it.

install_ibid() {
    local extras=$1
    local stamp="$root/.venv/installed${extras:+-$extras}"
    if [ "$stamp" -nt "$root/pyproject.toml" ]; then
        return
    fi
    if [ ! -x "$root/.venv/bin/python" ]; then
        echo "making a virtual environment in .venv" >&2
        "${PYTHON:-python3}" -m venv "$root/.venv" || {
            echo "this needs Python 3.11 or newer with its venv module; set PYTHON to one" >&2
            exit 1
        }
    fi
    "$root/.venv/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
        echo "ibid needs Python 3.11 or newer; set PYTHON to one and remove .venv" >&2
        exit 1
    }
    echo "installing ibid${extras:+ with the $extras extra} and what it needs (once; a minute or two)" >&2
    "$root/.venv/bin/python" -m pip install --quiet --quiet --disable-pip-version-check \
        --editable "$root${extras:+[$extras]}" >&2
    "$root/.venv/bin/python" -m compileall -q "$root/src"
    touch "$stamp"
    echo "installed" >&2
}
