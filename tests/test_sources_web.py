"""Websites as sources: what a list names is synced, politely, and leads nowhere else."""

from __future__ import annotations

import gzip
import ssl
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st

import ibid
from conftest import find, list_ids, open_hashing, run_ibid
from ibid.errors import BadSetting, InputError, ModelUnavailable
from ibid.openers.sources import open_source
from ibid.settings import load_settings
from ibid.sources.web.addresses import admit, find_kinds, tell_kind
from ibid.sources.web.lists import parse_list
from ibid.sources.web.source import WebSource, name_page
from ibid.sources.web.visitor import Unreachable, Visitor
from web_server import Page, Site, serve_site

LEAVE = "<html><title>Leave</title><body><p>Parental leave lasts sixteen weeks.</p></body></html>"
TRAVEL = "<html><title>Travel</title><body><p>Trains are booked by the portal.</p></body></html>"


@pytest.fixture
def site() -> Iterator[Site]:
    with serve_site() as site:
        yield site


@pytest.fixture
def library(tmp_path: Path) -> Iterator[ibid.Library]:
    with open_hashing(tmp_path / "library") as library:
        yield library


@pytest.fixture
def handbook(site: Site) -> Site:
    """A site of two pages and the list of them."""
    site.put({"/docs/leave.html": LEAVE, "/docs/travel/": TRAVEL})
    site.list_all("/docs/leave.html", "/docs/travel/")
    return site


def sync(library: ibid.Library, site: Site, name: str = "/pages.txt") -> ibid.IngestReport:
    return library.sync(f"{site.url}{name}")


# -- what a sync does ---------------------------------------------------------------------------


def test_pages_become_documents_that_lead_back_to_them(
    handbook: Site, library: ibid.Library
) -> None:
    report = sync(library, handbook)
    assert report.added == ("docs/leave.html", "docs/travel")
    info = library.describe("docs/travel")
    assert (info.source, info.title) == (f"{handbook.url}/docs/travel/", "Travel")
    (source,) = library.sources()
    assert (source.name, source.location) == ("127.0.0.1", f"{handbook.url}/pages.txt")
    assert {agent.partition("/")[0] for agent in handbook.agents} == {"ibid"}


def test_a_second_sync_only_asks_whether_pages_changed(
    handbook: Site, library: ibid.Library
) -> None:
    sync(library, handbook)
    handbook.asked.clear()
    again = sync(library, handbook)
    assert (again.unchanged, again.passages.embedded) == (2, 0)
    assert handbook.take_asked("HEAD") == [("/docs/leave.html", 304), ("/docs/travel/", 304)]
    handbook.put({"/docs/leave.html": LEAVE.replace("sixteen", "twenty")})
    assert sync(library, handbook).updated == ("docs/leave.html",)
    assert handbook.take_asked("GET") == [("/docs/leave.html", 200)]
    assert find(library, "twenty") == ["docs/leave.html"]


def test_a_time_stands_for_a_page_without_a_tag(site: Site, library: ibid.Library) -> None:
    dated = {"last-modified": "Wed, 21 Oct 2026 07:28:00 GMT"}
    site.put({"/a": Page(LEAVE, headers=dated, tagged=False)})
    site.list_all("/a")
    sync(library, site)
    modified = library.describe("a").modified_at
    assert modified is not None
    assert modified.isoformat() == "2026-10-21T07:28:00+00:00"
    site.asked.clear()
    assert sync(library, site).unchanged == 1
    assert site.take_asked("HEAD") == [("/a", 304)]


@pytest.mark.parametrize("page", [Page(LEAVE, tagged=False), Page(LEAVE, no_head=True)])
def test_a_page_that_tells_no_state_is_fetched_and_not_embedded_again(
    site: Site, library: ibid.Library, page: Page
) -> None:
    site.put({"/a": page})
    site.list_all("/a")
    assert library.sync(f"{site.url}/pages.txt").passages.embedded == 1
    site.asked.clear()
    again = sync(library, site)
    assert (again.unchanged, again.passages.embedded) == (1, 0)
    assert site.take_asked("GET") == [("/a", 200)]


@pytest.mark.parametrize("status", [404, 410])
def test_a_page_that_is_gone_goes(handbook: Site, library: ibid.Library, status: int) -> None:
    sync(library, handbook)
    handbook.put({"/docs/leave.html": Page(status=status)})
    report = sync(library, handbook)
    assert report.removed == ("docs/leave.html",)
    assert [(one.id, one.reason) for one in report.skipped] == [
        ("docs/leave.html", f"gone: the server answers with {status}")
    ]
    assert sync(library, handbook).removed == ()
    handbook.put({"/docs/leave.html": LEAVE})
    assert sync(library, handbook).added == ("docs/leave.html",)


def test_a_page_that_was_never_there_is_skipped(handbook: Site, library: ibid.Library) -> None:
    handbook.list_all("/docs/leave.html", "/docs/none.html")
    for _ in range(2):
        report = sync(library, handbook)
        assert [(one.id, one.reason) for one in report.skipped] == [
            ("docs/none.html", "the server answers with 404")
        ]
        assert not report.failed


def test_a_page_that_is_listed_no_more_goes(handbook: Site, library: ibid.Library) -> None:
    sync(library, handbook)
    handbook.list_all("/docs/leave.html")
    assert sync(library, handbook).removed == ("docs/travel",)


@pytest.mark.parametrize("status", [401, 500, 502])
def test_a_page_that_cannot_be_had_stays(
    handbook: Site, library: ibid.Library, status: int
) -> None:
    sync(library, handbook)
    handbook.put({"/docs/leave.html": Page(status=status)})
    report = sync(library, handbook)
    assert [(one.id, one.error) for one in report.failed] == [
        ("docs/leave.html", "UnreadableDocument")
    ]
    assert f"the server answers with {status}" in report.failed[0].message
    assert report.removed == ()
    assert list_ids(library) == ["docs/leave.html", "docs/travel"]
    handbook.put({"/docs/leave.html": LEAVE})
    assert sync(library, handbook).unchanged == 2


def test_more_than_half_of_a_site_never_goes_at_once(site: Site, library: ibid.Library) -> None:
    paths = [f"/{n}" for n in range(12)]
    site.put({path: f"<p>Page {path} of the book.</p>" for path in paths})
    site.list_all(*paths)
    sync(library, site)
    site.put({path: Page(status=404) for path in paths[:8]})
    with pytest.raises(InputError, match="8 of the 12 documents"):
        sync(library, site)
    assert len(list_ids(library)) == 12


def test_the_type_that_the_server_tells_is_what_is_read(site: Site, library: ibid.Library) -> None:
    site.put(
        {
            "/plain": Page("# Rules\n\nBe on time.\n", type="text/markdown; charset=utf-8"),
            "/notes.md": Page("# Notes\n\nBe kind.\n", type="text/plain"),
            "/picture": Page(b"\x89PNG\r\n\x1a\n" + bytes(50), type="image/x-unheard-of"),
        }
    )
    site.list_all("/plain", "/notes.md", "/picture")
    report = sync(library, site)
    assert report.added == ("notes.md", "plain")
    assert [one.id for one in report.skipped] == ["picture"]
    titles = {info.id: info.title for info in library.documents(ibid.OWNER)}
    assert titles == {"plain": "Rules", "notes.md": "Notes"}


def test_a_page_above_the_limit_is_cut_short(site: Site) -> None:
    site.put({"/told": "x" * 500, "/small": "x" * 50})
    site.put({"/packed": Page(gzip.compress(b"x" * 5000), headers={"content-encoding": "gzip"})})
    site.list_all("/told", "/small", "/packed")
    source = WebSource(f"{site.url}/pages.txt")
    files = list(source.scan())
    with source.fetch(files, max_bytes=100) as arriving:
        found = {one.file.path: str(one.error or "") for one in arriving}
    assert found["small"] == ""
    assert "500 bytes are over max_file_bytes (100)" in found["told"]
    assert "over max_file_bytes (100)" in found["packed"]


# -- politeness ---------------------------------------------------------------------------------


def test_robots_txt_is_obeyed(handbook: Site, library: ibid.Library) -> None:
    handbook.put({"/robots.txt": Page("User-agent: ibid\nDisallow: /docs/travel\n")})
    report = sync(library, handbook)
    assert report.added == ("docs/leave.html",)
    assert [one.id for one in report.skipped] == ["docs/travel"]
    assert ("/docs/travel/", 200) not in handbook.take_asked("GET")
    handbook.put({"/robots.txt": Page("User-agent: *\nDisallow: /*.html$\n")})
    assert sync(library, handbook).removed == ("docs/leave.html",)


def test_a_robots_txt_that_cannot_be_had_forbids_and_removes_nothing(
    handbook: Site, library: ibid.Library
) -> None:
    sync(library, handbook)
    handbook.put({"/robots.txt": Page(status=500)})
    handbook.asked.clear()
    report = sync(library, handbook)
    assert len(report.failed) == 2
    assert "robots.txt can't be had" in report.failed[0].message
    assert [path for _, path, _ in handbook.asked].count("/robots.txt") == 1
    assert report.removed == ()
    assert handbook.take_asked("HEAD") == []


def test_pauses_are_as_long_as_robots_txt_asks(handbook: Site) -> None:
    handbook.put({"/robots.txt": Page("User-agent: *\nCrawl-delay: 7\n")})
    pauses: list[float] = []
    source = WebSource(f"{handbook.url}/pages.txt", lambda home: Visitor(home, pause=pauses.append))
    files = list(source.scan())
    with source.fetch(files, max_bytes=10_000) as arriving:
        assert [one.error for one in arriving] == [None, None]
    assert len(pauses) == 1  # the first page waits for nobody
    assert 6 < pauses[0] <= 7


def test_a_robots_txt_that_asks_for_days_is_told(handbook: Site, library: ibid.Library) -> None:
    handbook.put({"/robots.txt": Page("User-agent: *\nCrawl-delay: 86400\n")})
    report = sync(library, handbook)
    assert ["asks for pauses of 86400 s" in one.message for one in report.failed] == [True, True]


@pytest.mark.parametrize("host", ["a..example", f"{'a' * 64}.example", "no-such-host.invalid"])
def test_a_host_that_cannot_be_is_told(library: ibid.Library, host: str) -> None:
    with pytest.raises(InputError, match="can't be reached"):
        library.sync(f"https://{host}/sitemap.xml")


def test_a_host_of_any_script_is_asked_by_its_name(site: Site) -> None:
    site.put({"/a": LEAVE})
    port = site.url.rpartition(":")[2]
    asked: list[str] = []

    def resolve(host: str, number: int) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"]

    visitor = Visitor(f"http://bücher.example:{port}", resolve=resolve)
    with visitor.ask("GET", f"http://bücher.example:{port}/a") as response:
        assert response.status_code == 200
        assert response.request.headers["host"] == f"xn--bcher-kva.example:{port}"
    visitor.close()
    assert set(asked) == {"xn--bcher-kva.example"}


def test_a_busy_server_is_asked_again_when_it_says_so(handbook: Site) -> None:
    busy = Page(status=503, headers={"retry-after": "11"})
    handbook.put({"/docs/leave.html": busy})
    pauses: list[float] = []

    def wait(seconds: float) -> None:
        pauses.append(seconds)
        handbook.put({"/docs/leave.html": LEAVE})

    visitor = Visitor(handbook.url, pause=wait)
    with visitor.ask("GET", f"{handbook.url}/docs/leave.html") as response:
        assert response.status_code == 200
    assert pauses == [11.0]
    handbook.put({"/docs/leave.html": Page(status=429, headers={"retry-after": "86400"})})
    with (
        pytest.raises(Unreachable, match="asks to be left alone for 86400 s"),
        visitor.ask("GET", f"{handbook.url}/docs/leave.html"),
    ):
        pass
    visitor.close()


# -- where it may lead --------------------------------------------------------------------------


def test_redirects_are_followed_and_bounded(site: Site, library: ibid.Library) -> None:
    def lead(target: str) -> Page:
        return Page(status=302, headers={"location": target})

    site.put({"/old": lead("/new"), "/new": LEAVE, "/round": lead("/round")})
    site.put({"/file": lead("file:///etc/passwd"), "/in": lead("http://169.254.169.254/keys")})
    site.list_all("/old", "/round", "/file", "/in")
    report = sync(library, site)
    assert report.added == ("old",)
    assert library.describe("old").source == f"{site.url}/old"
    reasons = {one.id: one.message for one in report.failed}
    assert "leads on more than 5 times" in reasons["round"]
    assert "no website" in reasons["file"]
    assert "lies inside a network" in reasons["in"]


KINDS = {
    "8.8.8.8": "public",
    "2606:4700::1111": "public",
    "127.0.0.53": "loopback",
    "::1": "loopback",
    "::ffff:127.0.0.1": "loopback",
    "10.1.2.3": "private",
    "172.16.0.1": "private",
    "192.168.0.10": "private",
    "100.64.0.1": "private",
    "fd00::1": "private",
    "169.254.169.254": "link-local",
    "fe80::1": "link-local",
    "0.0.0.0": "elsewhere",
    "224.0.0.1": "elsewhere",
    "255.255.255.255": "elsewhere",
}


@pytest.mark.parametrize(("address", "kind"), KINDS.items())
def test_an_address_is_of_one_kind(address: str, kind: str) -> None:
    assert tell_kind(address) == kind


@pytest.mark.parametrize("address", [a for a, kind in KINDS.items() if kind != "public"])
def test_a_public_source_leads_into_no_network(address: str) -> None:
    names = {"home.example": ["8.8.8.8"], "evil.example": [address], "both.example": ["8.8.8.8"]}
    names["both.example"].append(address)

    def resolve(host: str, port: int) -> Sequence[str]:
        return names[host]

    kinds = find_kinds("home.example", 443, resolve)
    with pytest.raises(PermissionError, match=r"evil\.example lies inside a network"):
        admit("evil.example", 80, kinds, resolve)
    assert admit("both.example", 80, kinds, resolve) == ["8.8.8.8"]


def test_what_was_admitted_is_what_is_connected_to(site: Site) -> None:
    """A name that leads elsewhere at the second look does not lead there."""
    site.put({"/a": LEAVE})
    port = site.url.rpartition(":")[2]
    looks: list[str] = []

    def resolve(host: str, number: int) -> Sequence[str]:
        looks.append(host)
        return ["127.0.0.1"]

    visitor = Visitor(f"http://handbook.example:{port}", resolve=resolve)
    with visitor.ask("GET", f"http://handbook.example:{port}/a") as response:
        assert response.read().decode() == LEAVE
    visitor.close()
    assert set(looks) == {"handbook.example"}  # no resolver but this one knows the name


def make_certificate(folder: Path, host: str) -> Path:
    """A certificate that a host gave itself, in one file with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
    file = folder / f"{host}.pem"
    file.write_bytes(private + made.public_bytes(pem))
    return file


def test_a_certificate_is_held_against_the_name_and_not_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = make_certificate(tmp_path, "handbook.example")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with serve_site(context) as site:
        site.put({"/a": LEAVE})
        port = site.url.rpartition(":")[2]
        visitor = Visitor(f"https://handbook.example:{port}", resolve=lambda *_: ["127.0.0.1"])
        with visitor.ask("GET", f"https://handbook.example:{port}/a") as response:
            assert response.read().decode() == LEAVE
        with (
            pytest.raises(Unreachable, match="CERTIFICATE_VERIFY_FAILED"),
            visitor.ask("GET", f"https://other.example:{port}/a"),
        ):
            pass
        visitor.close()


def test_names_and_passwords_stay_out_of_addresses() -> None:
    with pytest.raises(BadSetting, match="name or password"):
        WebSource("https://ann:secret@docs.example/sitemap.xml")


def test_only_this_machine_is_asked_when_offline(handbook: Site) -> None:
    settings = load_settings({"offline": True}, library="nowhere")
    with pytest.raises(ModelUnavailable, match="ibid is offline"):
        open_source("https://docs.example/sitemap.xml", settings)
    assert list(open_source(f"{handbook.url}/pages.txt", settings).scan())


# -- lists --------------------------------------------------------------------------------------

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
SCHEMA = "http://www.sitemaps.org/schemas/sitemap/0.9"


def make_sitemap(*urls: str, kind: str = "urlset", entry: str = "url") -> str:
    named = "".join(f"<{entry}><loc>{url}</loc></{entry}>" for url in urls)
    return f'{HEAD}<{kind} xmlns="{SCHEMA}">{named}</{kind}>'


def test_an_index_of_packed_sitemaps_is_followed(handbook: Site, library: ibid.Library) -> None:
    inner = make_sitemap(f"{handbook.url}/docs/leave.html", f"{handbook.url}/docs/travel/")
    index = make_sitemap(f"{handbook.url}/inner.xml.gz", kind="sitemapindex", entry="sitemap")
    handbook.put(
        {"/sitemap.xml": Page(index), "/inner.xml.gz": Page(gzip.compress(inner.encode()))}
    )
    assert sync(library, handbook, "/sitemap.xml").added == ("docs/leave.html", "docs/travel")
    handbook.put({"/inner.xml.gz": Page(status=500)})
    with pytest.raises(InputError, match=r"inner\.xml\.gz can't be had: status 500"):
        sync(library, handbook, "/sitemap.xml")
    assert len(list_ids(library)) == 2


def test_a_sitemap_speaks_of_its_own_host_alone(site: Site, library: ibid.Library) -> None:
    site.put({"/sitemap.xml": make_sitemap("http://other.example/page")})
    with pytest.raises(InputError, match="the sitemap of its own host"):
        sync(library, site, "/sitemap.xml")


def test_sitemaps_that_lead_in_circles_end(site: Site, library: ibid.Library) -> None:
    site.put({"/a": LEAVE, "/pages.xml": make_sitemap(f"{site.url}/a")})
    names = (f"{site.url}/sitemap.xml", f"{site.url}/pages.xml")
    site.put({"/sitemap.xml": make_sitemap(*names, kind="sitemapindex", entry="sitemap")})
    assert sync(library, site, "/sitemap.xml").added == ("a",)


BOMB = gzip.compress(bytes(60_000_000))

BAD_LISTS = {
    "a page": (b"<html><body>Hello</body></html>", "no list of pages"),
    "broken": (b"<urlset><url>", "neither a sitemap nor a text list"),
    "no urls": (b"leave.html\n", "names no page in line 1"),
    "a script": (b"https://a.example/x\njavascript:alert(1)\n", "line 2"),
    "a password": (b"https://ann:secret@a.example/x\n", "line 1"),
    "a bad port": (b"https://a.example:port/x\n", "line 1"),
    "binary": (b"\xff\xfe\x00\x01", "no text in UTF-8"),
    "half a gzip": (gzip.compress(b"https://a.example/x\n" * 99)[:40], "ends in the middle"),
    "a bomb": (BOMB, "larger than"),
}


@pytest.mark.parametrize("name", BAD_LISTS)
def test_what_is_no_list_changes_nothing(name: str) -> None:
    data, reason = BAD_LISTS[name]
    with pytest.raises(InputError, match=reason):
        parse_list(data, "https://a.example/list")


def test_no_entity_of_a_sitemap_is_resolved(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("https://a.example/secret")
    entity = f'<!DOCTYPE x [<!ENTITY e SYSTEM "{secret.as_uri()}">]>'
    named = "<urlset><url><loc>https://a.example/&e;</loc></url></urlset>"
    listing = parse_list(f"{entity}{named}".encode(), "https://a.example/sitemap.xml")
    assert listing.pages == ("https://a.example/",)


def test_a_list_may_have_comments_and_repeat_itself() -> None:
    text = "\ufeff# ours\nhttps://a.example/x\r\n\n  https://a.example/y  \nhttps://a.example/x\n"
    listing = parse_list(text.encode(), "https://a.example/list")
    assert listing.pages == ("https://a.example/x", "https://a.example/y")


NAMES = {
    "https://a.example/": "index",
    "https://a.example": "index",
    "https://a.example/docs/": "docs",
    "https://a.example/Urlaub%20%C3%BC.html": "Urlaub ü.html",
    "https://a.example/a%2Fb": "a%2Fb",
    "https://a.example/a%3Fb": "a%3Fb",
    "https://a.example/a%0Ab": "a%0Ab",
    "https://a.example/a%FF": "a%FF",
    "https://a.example/page?id=3&x=%20": "page?id=3&x=%20",
    "https://a.example/page#part": "page",
    "https://b.example:8443/page": "b.example:8443/page",
}


@pytest.mark.parametrize(("url", "path"), NAMES.items())
def test_the_path_of_a_page_is_that_of_its_url(url: str, path: str) -> None:
    assert name_page(url, "https://a.example/sitemap.xml") == path


@given(st.text(st.characters(codec="utf-8"), max_size=40))
def test_any_url_has_a_path_that_can_be_printed(tail: str) -> None:
    path = name_page(f"https://a.example/{tail}", "https://a.example/list")
    assert path
    assert not path.startswith("/")


def test_pages_of_one_path_are_told(site: Site, library: ibid.Library) -> None:
    site.put({"/docs": LEAVE, "/docs/": TRAVEL})
    site.list_all("/docs", "/docs/")
    report = sync(library, site)
    assert report.added == ("docs",)
    assert "another page has this path" in report.skipped[0].reason


def test_the_command_line_syncs_a_website(handbook: Site, tmp_path: Path) -> None:
    place = tmp_path / "library"
    url = f"{handbook.url}/pages.txt"
    assert run_ibid("sync", url, library=place)["passages"]["added"] == 2
    assert run_ibid("sync", url, "--dry-run", library=place)["unchanged"] == 2
    refused = run_ibid("sync", f"{handbook.url}/docs/leave.html", library=place, code=1)
    assert "no list of pages" in refused["error"]["message"]
