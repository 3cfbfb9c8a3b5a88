"""reStructuredText, AsciiDoc and LaTeX become what a reader of the rendered page sees."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibid.errors import EmptyDocument
from ibid.reading.registry import read_bytes
from ibid.records import Document

SOURCES = st.text(st.sampled_from("ab \n=-~*`_|.:+\\{}[]$%&#<>\t1é中"), max_size=300)


def blocks(document: Document) -> list[tuple[str, int, str]]:
    return [(b.kind.value, b.level, document.text[b.span].rstrip()) for b in document.blocks]


def assert_tiles(document: Document) -> None:
    ends = [block.start for block in document.blocks[1:]] + [len(document.text)]
    assert document.blocks[0].start == 0
    assert [block.end for block in document.blocks] == ends
    for block in document.blocks:
        assert block.lines is None or 1 <= block.lines[0] <= block.lines[1]


RST = """=====
Title
=====

:Author: Ann
:Date: 2024-01-02

Intro with :ref:`text <target>`, ``code`` and |sub|. See [1]_.

.. |sub| replace:: replaced words
.. a comment

Section
-------

3. three
4. four

   - nested

term
  definition

.. note:: Beware of *this*.

.. versionadded:: 1.2
   New thing.

.. py:function:: foo(*args)
   :noindex:

   Does foo.

   .. code-block:: python
      :linenos:

      def foo():

          return 1

===== =====
A     B
===== =====
1     2
===== =====

+-----+-----+
| a   | b   |
+     +-----+
|     | c   |
+-----+-----+

| line one
| line two

.. [1] A note.
"""


def test_restructured_text() -> None:
    document = read_bytes(RST.encode(), "a.rst")
    assert document.title == "Title"
    assert document.metadata == {"author": "Ann", "date": "2024-01-02"}
    assert blocks(document) == [
        ("heading", 1, "Title"),
        ("paragraph", 0, "Author: Ann"),
        ("paragraph", 0, "Date: 2024-01-02"),
        ("paragraph", 0, "Intro with text, code and replaced words. See [1]."),
        ("heading", 2, "Section"),
        ("list", 0, "3. three\n4. four\n   - nested"),
        ("list", 0, "- term:\n  definition"),
        ("paragraph", 0, "Note: Beware of this."),
        ("paragraph", 0, "New in version 1.2 New thing."),
        ("paragraph", 0, "foo(*args)"),
        ("paragraph", 0, "Does foo."),
        ("code", 0, "def foo():\n\n    return 1"),
        ("table", 0, "| A | B |\n| --- | --- |\n| 1 | 2 |"),
        ("table", 0, "| a | b |\n|  | c |"),
        ("paragraph", 0, "line one\nline two"),
        ("paragraph", 0, "[1] A note."),
    ]


def test_restructured_text_reads_no_other_file(tmp_path_factory: pytest.TempPathFactory) -> None:
    secret = tmp_path_factory.mktemp("other") / "secret.txt"
    secret.write_text("the secret", encoding="utf-8")
    source = f".. include:: {secret}\n\n.. raw:: html\n   :file: {secret}\n\n.. csv-table:: t\n"
    document = read_bytes((source + f"   :file: {secret}\n\nseen").encode(), "a.rst")
    assert "the secret" not in document.text
    assert "seen" in document.text


def test_restructured_text_that_docutils_gives_up_on_is_kept() -> None:
    long = "x" * 200_000
    assert read_bytes(long.encode(), "a.rst").text == long


ADOC = """= Doc Title
Ann Author <ann@x.org>
v1.0, 2024-01-01
:name: World

Hello {name}, *bold* and _it_ and `code_x`, see <<sec,the section>> and
https://x.org[site].footnote:[A note.]

[[sec]]
== Section

.Caption
[source,python]
----
def f():
    return 1
----

* one
** nested
* two
+
more of two
. num
. num2

NOTE: Take care.

[WARNING]
====
Danger here.
====

term:: definition

|===
|A |B

|1 |2
|3
|4
|===

[cols="1,1,2",options="header"]
|===
|x|y|z
2+|span|c
|===

// comment
include::other.adoc[]

image::a.png[Alt text,200]

Old title
---------
tail
"""


def test_asciidoc() -> None:
    document = read_bytes(ADOC.encode(), "a.adoc")
    assert document.title == "Doc Title"
    assert document.metadata == {"author": "Ann Author", "date": "2024-01-01", "version": "1.0"}
    assert blocks(document) == [
        ("heading", 1, "Doc Title"),
        (
            "paragraph",
            0,
            "Hello World, bold and it and code_x, see the section and site. (A note.)",
        ),
        ("heading", 2, "Section"),
        ("paragraph", 0, "Caption"),
        ("code", 0, "def f():\n    return 1"),
        ("list", 0, "- one\n  - nested\n- two\n  more of two\n  1. num\n  2. num2"),
        ("paragraph", 0, "NOTE: Take care."),
        ("paragraph", 0, "Warning: Danger here."),
        ("list", 0, "- term: definition"),
        ("table", 0, "| A | B |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |"),
        ("table", 0, "| x | y | z |\n| --- | --- | --- |\n| span |  | c |"),
        ("paragraph", 0, "Alt text"),
        ("heading", 2, "Old title"),
        ("paragraph", 0, "tail"),
    ]
    lines = {document.text[b.span].rstrip(): b.lines for b in document.blocks}
    assert lines["Section"] == (10, 10)
    assert lines["def f():\n    return 1"] == (14, 17)


TEX = r"""% a comment
\documentclass{article}
\newcommand{\foo}[1]{bar #1}
\title{The \emph{Title}}
\author{Ann B}
\begin{document}
\maketitle
\section{Intro \emph{x}}\label{s}
Hello~world % comment
``quoted'' --- \cite{a,b} and \(y\). Energy
\begin{equation}
E = mc^2
\end{equation}
follows.

Second \href{http://x}{link} 5\,\% G\"odel\footnote{note}.

\subsection*{List}
\begin{itemize}
\item one
\item[q] two
  \begin{enumerate} \item n1 \item n2 \end{enumerate}
\end{itemize}
\begin{table}[h]
\caption{Cap}
\begin{tabular}{lc}
\hline
A & B \\ \hline
1 & $2\%$ \\
\multicolumn{2}{c}{C} \\
\end{tabular}
\end{table}
\begin{lstlisting}[language=C]
int a = 1; % not comment
\end{lstlisting}
\input{/etc/hostname}
\end{document}
ignored
"""


def test_latex() -> None:
    document = read_bytes(TEX.encode(), "a.tex")
    assert document.title == "The Title"
    assert document.metadata == {"author": "Ann B"}
    assert blocks(document) == [
        ("heading", 1, "The Title"),
        ("heading", 2, "Intro x"),
        (
            "paragraph",
            0,
            "Hello world “quoted” — [a,b] and \\(y\\). Energy"
            " \\begin{equation} E = mc^2 \\end{equation} follows.",
        ),
        ("paragraph", 0, "Second link (http://x) 5 % Gödel (note)."),
        ("heading", 3, "List"),
        ("list", 0, "- one\n- q:\n  two\n  1. n1\n  2. n2"),
        ("paragraph", 0, "Cap"),
        ("table", 0, "| A | B |\n| --- | --- |\n| 1 | $2\\%$ |\n| C |  |"),
        ("code", 0, "int a = 1; % not comment"),
    ]
    assert document.blocks[3].lines == (16, 16)


def test_a_fragment_of_latex_and_a_hopeless_one() -> None:
    assert blocks(read_bytes(b"\\chapter{C}\n\\section{S}\nx", "a.tex")) == [
        ("heading", 1, "C"),
        ("heading", 2, "S"),
        ("paragraph", 0, "x"),
    ]
    hopeless = "{" * 3000
    assert read_bytes(hopeless.encode(), "a.tex").text == hopeless


@pytest.mark.parametrize("name", ["a.rst", "a.adoc", "a.tex"])
@given(source=SOURCES)
def test_any_text_gives_blocks_that_tile_or_nothing(name: str, source: str) -> None:
    try:
        document = read_bytes(source.encode(), name)
    except EmptyDocument:
        return
    assert_tiles(document)
    assert read_bytes(source.encode(), name) == document
