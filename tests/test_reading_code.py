"""Source code stays as it is; its definitions are blocks that know their names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibid.errors import EmptyDocument
from ibid.reading.registry import read_bytes
from ibid.records import BlockKind, Document


def parts(document: Document) -> list[tuple[str | None, str]]:
    return [(b.place, document.text[b.span].strip().split("\n")[0]) for b in document.blocks]


PYTHON = '''"""A module."""

import os

LIMIT = 3


# Why it is here.
@cache
def outer(
    a,
):
    def inner(): ...

    return "class Fake:"


class Session(Base):
    """Holds things."""

    size = 1

    # Said above.
    @property
    def name(self): ...

    async def send(self): ...

    class Inner:
        def deep(self): ...

    after = 2


if __name__ == "__main__":
    outer()
'''


def test_python_by_its_syntax() -> None:
    document = read_bytes(PYTHON.encode(), "lib/session.py")
    assert document.text == PYTHON.strip()
    assert document.title == "session.py"
    assert {block.kind for block in document.blocks} == {BlockKind.CODE}
    assert parts(document) == [
        (None, '"""A module."""'),
        ("outer", "# Why it is here."),
        ("Session", "class Session(Base):"),
        ("Session.name", "# Said above."),
        ("Session.send", "async def send(self): ..."),
        ("Session.Inner", "class Inner:"),
        ("Session.Inner.deep", "def deep(self): ..."),
        ("Session", "after = 2"),
        (None, 'if __name__ == "__main__":'),
    ]
    assert document.blocks[1].lines == (8, 15)


def test_python_that_does_not_parse_is_read_by_its_look() -> None:
    broken = "class A:\n    def f(self):\n        print 'old'\n\n    def g(self):\n        pass\n"
    assert parts(read_bytes(broken.encode(), "a.py")) == [
        ("A", "class A:"),
        ("A.f", "def f(self):"),
        ("A.g", "def g(self):"),
    ]


@pytest.mark.parametrize(
    ("name", "source", "places"),
    [
        (
            "a.js",
            "// Top\nimport x;\n\n/** Says. */\nexport async function go(a) {\n  if (a) {\n  }\n}\n"
            "const add = (a, b) => {\n  return a;\n};\nclass Box {\n  get size() {\n    return 1;\n"
            "  }\n}\nPage.prototype = {\n  LIMIT: 1,\n  grab(page) {\n  },\n};\ngo();\n",
            [
                None,
                "go",
                "add",
                "Box",
                "Box.size",
                "Page.prototype",
                "Page.prototype.grab",
                None,
            ],
        ),
        (
            "A.java",
            "package a;\n\n@Service\npublic class A {\n  private int x;\n\n  /** Doc. */\n"
            "  @Override\n  public List<String> names(int a) {\n    return f(a);\n  }\n}\n",
            [None, "A", "A.names"],
        ),
        (
            "a.go",
            'package a\n\nimport "fmt"\n\n// Run runs.\nfunc (s *Server) Run() {\n}\n\n'
            "type T struct {\n}\n",
            [None, "Run", "T"],
        ),
        (
            "a.rs",
            "use x;\n\n#[derive(Debug)]\npub struct P;\n\nimpl Show for P {\n    fn show(&self) {\n"
            "    }\n}\n",
            [None, "P", "P.show"],
        ),
        (
            "a.c",
            "#include <x.h>\n\nstatic int add(int a,\n               int b)\n{\n    return a;\n}\n"
            "\nchar *name(void) {\n}\n",
            [None, "add", "name"],
        ),
        (
            "a.rb",
            "class A\n  def go!\n  end\n\n  def self.b\n  end\nend\n",
            ["A", "A.go!", "A.self.b"],
        ),
        (
            "a.sql",
            "-- People\nCREATE TABLE people (\n  id int\n);\n\ncreate or replace view v as\n"
            "  select 1;\n",
            ["people", "v"],
        ),
        ("a.sh", "set -e\n\nbuild() {\n  make\n}\n\nbuild\n", [None, "build", None]),
        ("a.css", "a {\n}\n\nb {\n}\n", [None, None]),
    ],
)
def test_definitions_of_other_languages(name: str, source: str, places: list[str | None]) -> None:
    document = read_bytes(source.encode(), name)
    assert document.text == source.strip()
    assert [block.place for block in document.blocks] == places


LINES = st.sampled_from(
    ["class A:", "def f():", "  x = 1", "    def g():", "", "}", "function f() {", "# note", "\tz"]
)


@pytest.mark.parametrize("name", ["a.py", "a.js", "a.c", "a.xyz.rb"])
@given(lines=st.lists(LINES, max_size=12))
def test_blocks_tile_the_very_text_of_the_file(name: str, lines: list[str]) -> None:
    source = "\n".join(lines)
    try:
        document = read_bytes(source.encode(), name)
    except EmptyDocument:
        assert not source.strip()
        return
    assert document.text in source
    assert document.text.split() == source.split()
    ends = [block.start for block in document.blocks[1:]] + [len(document.text)]
    assert document.blocks[0].start == 0
    assert [block.end for block in document.blocks] == ends
    numbered = source.split("\n")
    for block in document.blocks:
        assert block.lines is not None
        first, last = block.lines
        assert "\n".join(numbered[first - 1 : last]).strip() == document.text[block.span].strip()


def test_a_line_made_by_a_machine_costs_no_time() -> None:
    source = "a*" * 400_000 + "("
    assert read_bytes(source.encode(), "a.c").text == source
    assert read_bytes(("a*" * 450 + "[").encode(), "a.c").text.endswith("[")
