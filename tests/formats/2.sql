-- The tables of format 2, as ibid 0.1 made them. Never change this file.

CREATE TABLE library (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE versions (version INTEGER PRIMARY KEY, created_at REAL NOT NULL);

CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    source TEXT,
    allow TEXT,                  -- JSON list of principals; NULL: public
    overrides TEXT NOT NULL      -- JSON: what `set` and flags said
);
CREATE INDEX documents_by_source ON documents (source);

CREATE TABLE contents (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL,
    language TEXT,
    first_row INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    characters INTEGER NOT NULL
);

CREATE TABLE texts (             -- apart, so that what is read at every opening is small
    content INTEGER PRIMARY KEY REFERENCES contents (id),
    text TEXT NOT NULL,
    blocks TEXT NOT NULL         -- JSON, one list a block
);

CREATE TABLE revisions (
    id INTEGER PRIMARY KEY,
    document INTEGER NOT NULL REFERENCES documents (id),
    content INTEGER NOT NULL REFERENCES contents (id),
    name TEXT NOT NULL,          -- the document's id, as its users say it
    version INTEGER NOT NULL,    -- live from this version
    removed_in INTEGER,          -- until this one
    title TEXT,
    source_uri TEXT,
    media_type TEXT NOT NULL,
    modified_at REAL,            -- seconds since 1970, UTC
    archived INTEGER NOT NULL,
    tags TEXT NOT NULL,          -- JSON
    metadata TEXT NOT NULL       -- JSON
);
CREATE UNIQUE INDEX live_names ON revisions (name) WHERE removed_in IS NULL;
CREATE INDEX revisions_by_name ON revisions (name);
CREATE INDEX revisions_by_document ON revisions (document);
CREATE INDEX revisions_by_content ON revisions (content);

CREATE TABLE attributes (        -- tags and metadata, one row for each value, for filters
    revision INTEGER NOT NULL REFERENCES revisions (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    text TEXT,
    number REAL
);
CREATE INDEX attributes_by_text ON attributes (name, text, revision);
CREATE INDEX attributes_by_number ON attributes (name, number, revision);
CREATE INDEX attributes_by_revision ON attributes (revision);

CREATE TABLE passages (
    row INTEGER PRIMARY KEY,
    content INTEGER NOT NULL REFERENCES contents (id),
    ordinal INTEGER NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    body INTEGER NOT NULL,
    prefix TEXT NOT NULL,
    headings TEXT NOT NULL,      -- JSON
    lead TEXT NOT NULL,
    page INTEGER,
    place TEXT,
    rule TEXT NOT NULL,
    context TEXT NOT NULL,
    context_key BLOB NOT NULL,
    text_hash BLOB NOT NULL
);
CREATE INDEX passages_by_hash ON passages (text_hash);
CREATE INDEX passages_by_context ON passages (context_key) WHERE context_key != x'';

CREATE TABLE mentions (          -- the graph: what a passage names; the name stays in its text
    entity INTEGER NOT NULL,
    row INTEGER NOT NULL,
    role INTEGER NOT NULL,
    PRIMARY KEY (entity, row)
) WITHOUT ROWID;
CREATE TABLE segments (          -- the live vector files
    file TEXT PRIMARY KEY,
    first_row INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    clusters TEXT,               -- the file of the clusters of its rows, where there is one
    hash TEXT,                   -- BLAKE3 of the file; NULL where an older ibid wrote it
    clusters_hash TEXT
) WITHOUT ROWID;

CREATE TABLE sources (
    name TEXT PRIMARY KEY,
    location TEXT NOT NULL UNIQUE,
    prefix TEXT NOT NULL UNIQUE,
    synced_at REAL,
    recipe TEXT NOT NULL
);

CREATE TABLE files (
    source TEXT NOT NULL REFERENCES sources (name) ON DELETE CASCADE,
    path TEXT NOT NULL,
    size INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    status TEXT NOT NULL,
    bytes_hash TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    error TEXT NOT NULL,
    message TEXT NOT NULL,
    container TEXT NOT NULL,     -- the path of the file that an attachment came in, or ''
    changed_ns INTEGER NOT NULL DEFAULT 0,  -- 0: not known, so the file is read again
    PRIMARY KEY (source, path)
) WITHOUT ROWID;

CREATE TABLE erasures (          -- purged documents that the answers may still have to forget
    name TEXT NOT NULL,
    version INTEGER NOT NULL,    -- as in revisions
    removed_in INTEGER
);

PRAGMA user_version = 2;
