"""The tables of a library in PostgreSQL, and what their readers are shown of them.

They mean what the embedded engine's tables mean (`embedded/schema.py`). What lies in files there
lies in tables here: vectors, and postings, whose terms are known by a hash. A version keeps the row
after its last one, and how many passages and terms lie before it, so that a search at it has the
statistics of that version whatever came later.

Whoever searches for a caller does so in the role READER, to which the policies show what that
caller may see and nothing else: a second fence, behind the conditions of every statement.
"""

from __future__ import annotations

from typing import Final

FORMAT: Final = 3
"""Version of these tables, kept in `library.format`; the steps of migrate.py lead here."""

READER: Final = "ibid_reader"
"""The role of all searches for a caller; one for all libraries of a server, as roles are."""

CALLER: Final = "ibid.principals"
"""The setting of a transaction that names its caller's principals, for the policies."""

CLOSED: Final = """
CREATE TABLE closed (                      -- documents that were not for everyone, and are no more
    name bytea PRIMARY KEY                 -- a hash of it
);
"""

TABLES: Final = (
    CLOSED
    + """
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

CREATE TABLE postings (                    -- see postings.py
    term bigint NOT NULL,
    bucket bigint NOT NULL,
    packed bytea STORAGE EXTERNAL NOT NULL,
    PRIMARY KEY (term, bucket)
);
CREATE INDEX postings_by_bucket ON postings (bucket);

CREATE TABLE document_postings (           -- of documents, each as its first row
    term bigint NOT NULL,
    bucket bigint NOT NULL,
    packed bytea STORAGE EXTERNAL NOT NULL,
    PRIMARY KEY (term, bucket)
);
CREATE INDEX document_postings_by_bucket ON document_postings (bucket);

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
    tag text NOT NULL DEFAULT '',
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
"""
)

QUEUE: Final = """
CREATE TABLE runs (                        -- syncs whose files are taken in by workers
    id text PRIMARY KEY,
    source text NOT NULL UNIQUE,
    prefix text NOT NULL,
    rules text NOT NULL
);

CREATE TABLE queued (                      -- their files
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run text NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    path text NOT NULL,
    uri text NOT NULL,
    stat text NOT NULL,                    -- JSON
    known text NOT NULL,                   -- JSON
    media_type text,
    data bytea STORAGE EXTERNAL NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    committed boolean NOT NULL DEFAULT false,
    outcome text                           -- JSON; NULL until it is done
);
CREATE INDEX queued_by_run ON queued (run);
"""

FIRST_ROWS: Final = """
INSERT INTO library (format) VALUES (3);
INSERT INTO versions VALUES (0, extract(epoch FROM now()), 0, 0, 0, 0, 0);
"""

POLICIES: Final = f"""
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
