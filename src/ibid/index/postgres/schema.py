"""The tables of a library in PostgreSQL, and how they are brought to today's format.

They mean what the embedded engine's tables mean (`embedded/schema.py`). What lies in files there
lies in tables here: vectors, and postings, whose terms are known by a hash. A version keeps the row
after its last one, and how many passages and terms lie before it, so that a search at it has the
statistics of that version whatever came later.

Whoever searches for a caller does so in the role READER, to which the policies show what that
caller may see and nothing else: a second fence, behind the conditions of every statement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ibid.errors import FormatTooNew, LibraryError, LibraryNotFound

if TYPE_CHECKING:
    import psycopg

FORMAT: Final = 2
"""Version of these tables, kept in `library.format`; STEPS lead here."""

READER: Final = "ibid_reader"
"""The role of all searches for a caller; one for all libraries of a server, as roles are."""

CALLER: Final = "ibid.principals"
"""The setting of a transaction that names its caller's principals, for the policies."""

MIN_SERVER: Final = 16
MIN_PGVECTOR: Final = (0, 8, 0)
"""The oldest that has an iterative scan."""

_TABLES: Final = """
CREATE TABLE library (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    format integer NOT NULL,
    version bigint NOT NULL DEFAULT 0,
    first_row bigint NOT NULL DEFAULT 0,   -- the live generation of passages begins here
    next_row bigint NOT NULL DEFAULT 0,
    last_id bigint NOT NULL DEFAULT 0,
    replaced_at double precision NOT NULL DEFAULT 0,  -- when a re-index last replaced passages
    manifest text                          -- JSON; NULL before the first document
);

CREATE TABLE versions (
    version bigint PRIMARY KEY,
    created_at double precision NOT NULL,  -- seconds since 1970, UTC
    end_row bigint NOT NULL,
    passages bigint NOT NULL,              -- in the rows before that one, dead ones too
    terms bigint NOT NULL,
    documents bigint NOT NULL,
    document_terms bigint NOT NULL
);

CREATE TABLE documents (
    id bigint PRIMARY KEY,
    source text,
    allow text[],                          -- principals; NULL: public
    overrides text NOT NULL                -- JSON
);
CREATE INDEX documents_by_source ON documents (source);
CREATE INDEX documents_by_allow ON documents USING gin (allow);

CREATE TABLE contents (
    id bigint PRIMARY KEY,
    hash text NOT NULL,
    language text,
    first_row bigint NOT NULL,
    rows integer NOT NULL,
    characters integer NOT NULL
);
CREATE INDEX contents_by_hash ON contents (hash);

CREATE TABLE texts (
    content bigint PRIMARY KEY REFERENCES contents (id),
    text text NOT NULL,
    blocks text NOT NULL                   -- JSON
);

-- Texts that may be long are compared by hash, as no other index takes them; COLLATE "C" orders
-- them by code point.
CREATE TABLE revisions (
    id bigint PRIMARY KEY,
    document bigint NOT NULL REFERENCES documents (id),
    content bigint NOT NULL REFERENCES contents (id),
    name text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    removed_in bigint,
    title text COLLATE "C",
    source_uri text COLLATE "C",
    media_type text COLLATE "C" NOT NULL,
    modified_at double precision,
    archived boolean NOT NULL,
    tags text NOT NULL,                    -- JSON
    metadata text NOT NULL,                -- JSON
    CONSTRAINT live_names EXCLUDE USING hash (name WITH =) WHERE (removed_in IS NULL)
);
CREATE INDEX revisions_by_name ON revisions USING hash (name);
CREATE INDEX revisions_by_document ON revisions (document);
CREATE INDEX revisions_by_content ON revisions (content);

CREATE TABLE attributes (
    revision bigint NOT NULL REFERENCES revisions (id) ON DELETE CASCADE,
    name text NOT NULL,
    text text COLLATE "C",
    number double precision
);
CREATE INDEX attributes_by_text ON attributes USING hash (text);
CREATE INDEX attributes_by_number ON attributes (name, number, revision);
CREATE INDEX attributes_by_revision ON attributes (revision);

CREATE TABLE passages (
    row bigint PRIMARY KEY,
    first_row bigint NOT NULL,             -- of its document
    content bigint NOT NULL REFERENCES contents (id),
    ordinal integer NOT NULL,
    start_at integer NOT NULL,
    end_at integer NOT NULL,
    body integer NOT NULL,
    prefix text NOT NULL,
    headings text NOT NULL,                -- JSON
    lead text NOT NULL,
    page integer,
    place text,
    rule text NOT NULL,
    context text NOT NULL,
    context_key bytea NOT NULL,
    text_hash bytea NOT NULL,
    terms integer NOT NULL,                -- how many there are
    lead_terms integer NOT NULL            -- those of them that count for its document
);
CREATE INDEX passages_by_content ON passages (content);
CREATE INDEX passages_by_hash ON passages (text_hash);
CREATE INDEX passages_by_context ON passages (context_key) WHERE context_key != ''::bytea;

CREATE TABLE vectors (row bigint PRIMARY KEY, embedding halfvec NOT NULL);

CREATE TABLE postings (                    -- read from its index alone
    term bigint NOT NULL,
    row bigint NOT NULL,
    count integer NOT NULL,
    length integer NOT NULL,               -- of the passage, in terms
    PRIMARY KEY (term, row) INCLUDE (count, length)
);
CREATE INDEX postings_by_row ON postings (row);

CREATE TABLE document_postings (           -- by the first row of a document, with its length
    term bigint NOT NULL,
    row bigint NOT NULL,
    count integer NOT NULL,
    length integer NOT NULL,
    PRIMARY KEY (term, row) INCLUDE (count, length)
);
CREATE INDEX document_postings_by_row ON document_postings (row);

CREATE TABLE mentions (
    entity bigint NOT NULL,
    row bigint NOT NULL,
    role smallint NOT NULL,
    PRIMARY KEY (entity, row)
);
CREATE INDEX mentions_by_row ON mentions (row);

CREATE TABLE sources (
    number bigint GENERATED ALWAYS AS IDENTITY,
    name text PRIMARY KEY,
    location text NOT NULL UNIQUE,
    prefix text NOT NULL UNIQUE,
    synced_at double precision,
    recipe text NOT NULL
);

CREATE TABLE files (
    source text NOT NULL REFERENCES sources (name) ON DELETE CASCADE,
    path text NOT NULL,
    digest text GENERATED ALWAYS AS (md5(path)) STORED,  -- a path may be too long for an index
    size bigint NOT NULL,
    modified_ns bigint NOT NULL,
    inode bigint NOT NULL,
    status text NOT NULL,
    bytes_hash text NOT NULL,
    content_hash text NOT NULL,
    error text NOT NULL,
    message text NOT NULL,
    container text NOT NULL,
    changed_ns bigint NOT NULL,
    PRIMARY KEY (source, digest)
);
CREATE INDEX files_by_content ON files (content_hash);

CREATE TABLE erasures (name text NOT NULL, version bigint NOT NULL, removed_in bigint);

CREATE TABLE answers (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text NOT NULL UNIQUE,
    asked_at double precision NOT NULL,
    principals text NOT NULL,              -- JSON
    version bigint NOT NULL,
    key text NOT NULL,
    text_hash bytea NOT NULL,
    options text NOT NULL,                 -- JSON
    body text NOT NULL                     -- JSON
);
CREATE INDEX answers_by_time ON answers (asked_at);
CREATE INDEX answers_by_key ON answers USING hash (key);
CREATE INDEX answers_by_text ON answers (text_hash);
CREATE INDEX answers_by_principals ON answers USING hash (principals);

CREATE TABLE drawn (
    answer bigint NOT NULL REFERENCES answers (number) ON DELETE CASCADE,
    name text COLLATE "C" NOT NULL,
    version bigint NOT NULL
);
CREATE INDEX drawn_by_answer ON drawn (answer);
CREATE INDEX drawn_by_name ON drawn USING hash (name);

CREATE TABLE feedback (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    answer bigint NOT NULL REFERENCES answers (number) ON DELETE CASCADE,
    given_at double precision NOT NULL,
    good boolean NOT NULL,
    comment text NOT NULL                  -- JSON
);
CREATE INDEX feedback_by_answer ON feedback (answer);

CREATE TABLE staging (manifest text NOT NULL);
CREATE TABLE staged_contents (
    key bigint PRIMARY KEY,
    hash text NOT NULL,
    language text,
    passages text NOT NULL                 -- JSON
);
CREATE TABLE staged_vectors (text_hash bytea PRIMARY KEY, embedding halfvec NOT NULL);

INSERT INTO library (format) VALUES (1);
INSERT INTO versions VALUES (0, extract(epoch FROM now()), 0, 0, 0, 0, 0);
"""

_POLICIES: Final = f"""
ALTER TABLE documents ENABLE ROW LEVEL SECURITY;
ALTER TABLE revisions ENABLE ROW LEVEL SECURITY;
ALTER TABLE attributes ENABLE ROW LEVEL SECURITY;
ALTER TABLE contents ENABLE ROW LEVEL SECURITY;
ALTER TABLE texts ENABLE ROW LEVEL SECURITY;
ALTER TABLE passages ENABLE ROW LEVEL SECURITY;

CREATE POLICY seen ON documents FOR SELECT TO {READER} USING
    (allow IS NULL OR allow && current_setting('{CALLER}', true)::text[]);
CREATE POLICY seen ON revisions FOR SELECT TO {READER} USING
    (EXISTS (SELECT FROM documents d WHERE d.id = document));
CREATE POLICY seen ON attributes FOR SELECT TO {READER} USING
    (EXISTS (SELECT FROM revisions r WHERE r.id = revision));
CREATE POLICY seen ON contents FOR SELECT TO {READER} USING
    (EXISTS (SELECT FROM revisions r WHERE r.content = contents.id));
CREATE POLICY seen ON texts FOR SELECT TO {READER} USING
    (EXISTS (SELECT FROM revisions r WHERE r.content = texts.content));
CREATE POLICY seen ON passages FOR SELECT TO {READER} USING
    (EXISTS (SELECT FROM revisions r WHERE r.content = passages.content));

GRANT SELECT ON library, versions, documents, revisions, attributes, contents, texts, passages,
    vectors, postings, document_postings, mentions TO {READER};
"""

STEPS: Final[Mapping[int, Sequence[str]]] = {
    0: (_TABLES, _POLICIES),
    1: ("ALTER TABLE files ADD COLUMN tag text NOT NULL DEFAULT ''",),
}
"""The statements that lead from each format to the next; 0 is a schema without a library."""

_MAKE_READER: Final = f"""
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{READER}') THEN
        CREATE ROLE {READER} NOLOGIN NOSUPERUSER NOBYPASSRLS;
    END IF;
    IF NOT pg_has_role(current_user, '{READER}', 'SET') THEN
        GRANT {READER} TO CURRENT_USER WITH SET TRUE, INHERIT FALSE;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$
"""


def migrate_schema(connection: psycopg.Connection[Any], schema: str, *, create: bool) -> None:
    """Bring the library in a schema to today's format, or make it; one at a time, all or nothing.

    Raises LibraryNotFound where there is none and `create` forbids, FormatTooNew, and LibraryError
    for a server that is too old or a role that may not make what is missing.
    """
    found = read_format(connection, schema)
    if found > FORMAT:
        raise FormatTooNew(
            f"the library in the schema {schema} has format {found}; this ibid reads up to"
            f" {FORMAT}",
            hint="install a newer ibid",
        )
    if found == FORMAT:
        return
    if found == 0 and not create:
        raise LibraryNotFound(
            f"no library in the schema {schema}",
            hint="make one with `ibid sync FOLDER` or `ibid add PATH`, or name another with"
            " ?schema=NAME in the address",
        )
    _check_server(connection)
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (f"ibid {schema}",))
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        _check_pgvector(connection)
        connection.execute(_MAKE_READER)
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO {READER}")
        connection.execute(
            "SELECT set_config('search_path', %s, true)", (tell_path(connection, schema),)
        )
        for step in range(read_format(connection, schema), FORMAT):  # another may have been first
            for statements in STEPS[step]:
                connection.execute(statements)
        connection.execute("UPDATE library SET format = %s", (FORMAT,))


def read_format(connection: psycopg.Connection[Any], schema: str) -> int:
    """The format of the library in a schema; 0 where there is none."""
    (held,) = _fetch(connection, "SELECT to_regclass(%s) IS NOT NULL", f"{schema}.library")
    if not held:
        return 0
    (format,) = _fetch(connection, f"SELECT format FROM {schema}.library")
    return int(format)


def tell_path(connection: psycopg.Connection[Any], schema: str) -> str:
    """Where names are looked up: in the schema, and in that of pgvector."""
    (other,) = _fetch(
        connection, "SELECT extnamespace::regnamespace::text FROM pg_extension"
        " WHERE extname = 'vector'",
    )  # fmt: skip
    return f"{schema}, {other}"


def _check_server(connection: psycopg.Connection[Any]) -> None:
    major = connection.info.server_version // 10_000
    if major < MIN_SERVER:
        raise LibraryError(
            f"the server is PostgreSQL {major}; ibid needs {MIN_SERVER} or later",
            hint="name another server in the library's address",
        )


def _check_pgvector(connection: psycopg.Connection[Any]) -> None:
    (found,) = _fetch(connection, "SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    if tuple(int(part) for part in str(found).split(".")) < MIN_PGVECTOR:
        wanted = ".".join(map(str, MIN_PGVECTOR))
        raise LibraryError(
            f"the server has pgvector {found}; ibid needs {wanted} or later",
            hint="install a newer one there, then run ALTER EXTENSION vector UPDATE",
        )


def _fetch(connection: psycopg.Connection[Any], statement: str, *values: object) -> tuple[Any, ...]:
    found: tuple[Any, ...] | None = connection.execute(statement, values).fetchone()
    assert found is not None  # these statements always give a row
    return found
