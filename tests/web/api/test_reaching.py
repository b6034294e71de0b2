"""Deadlines in time zones and calendars, links to reports, and the page from which people are reached."""

import re
from datetime import UTC, datetime

import httpx
import pytest

from coherently.web.operations.deadlines import _folded, in_words, read_local
from coherently.web.refusals import RefusedError
from tests.web.api.service import Service, Weather, refused
from tests.web.mail_server import Mailbox
from tests.web.pages.conftest import Browser

ORIGIN = "https://panel.example.org"


@pytest.fixture
def service(tmp_path):
    with Service(f"sqlite:///{tmp_path}/store.db") as opened:
        yield opened


def unfolded(text):
    """The lines of a calendar file, by RFC 5545: a line that begins with a blank goes on with the one before."""
    assert text.endswith("\r\n")
    assert all(len(line.encode()) <= 75 for line in text.split("\r\n"))
    lines = text.replace("\r\n ", "").partition("BEGIN:VALARM")[0].split("\r\n")
    return dict(line.split(":", 1) for line in lines if ":" in line)


def test_a_deadline_as_a_file_for_calendars(service):
    weather = Weather(service)
    title = "Größe; “rain”, wind and\\or more " + "x" * 100
    weather.api.patch(weather.path, json={"title": title, "time_zone": "America/New_York"}).raise_for_status()
    refused(weather.api.get(f"{weather.path}/deadline.ics"), 404, "no end")
    sequence = []
    for closes in ("2031-05-01T12:00:00Z", "2031-05-02T12:00:00Z"):
        weather.api.post(f"{weather.path}/rounds", json={"phase": "private", "closes_at": closes}).raise_for_status()
        answers = weather.api.get(f"{weather.path}/deadline.ics"), weather.ann.get("/sheet/deadline.ics")
        for answer in answers:
            assert answer.headers["content-type"] == "text/calendar; charset=utf-8"
        found, own = (unfolded(answer.text) for answer in answers)
        assert found["DTEND"] == own["DTEND"] == closes.replace("-", "").replace(":", "")
        assert found["UID"] == own["UID"]
        assert found["SUMMARY"].replace("\\\\", "\0").replace("\\", "").replace("\0", "\\") == f"Answers due: {title}"
        assert "08:00 (America/New_York" in found["DESCRIPTION"]
        assert weather.ann_record["secret"] not in answers[1].text
        sequence.append((found["UID"], int(found["SEQUENCE"])))
    assert sequence[0][0] == sequence[1][0]
    assert sequence[0][1] <= sequence[1][1]
    weather.close()
    refused(weather.ann.get("/sheet/deadline.ics"), 404)
    refused(Weather(service).api.get(f"{weather.path}/deadline.ics"), 404, "panel")


def test_lines_are_folded_between_letters():
    line = "SUMMARY:" + "ä€😀" * 40
    assert "".join(piece[1:] if n else piece for n, piece in enumerate(_folded(line).split("\r\n"))) == line
    assert max(len(piece.encode()) for piece in _folded(line).split("\r\n")) <= 75


@pytest.mark.parametrize(
    ("typed", "zone", "moment"),
    [
        ("2026-07-01T14:00", "Europe/Berlin", "2026-07-01T12:00"),
        ("2026-01-01T14:00", "Europe/Berlin", "2026-01-01T13:00"),
        ("2026-10-25T02:30", "Europe/Berlin", "2026-10-25T00:30"),  # the first of two
        ("2026-07-01T14:00", "Asia/Kathmandu", "2026-07-01T08:15"),
    ],
)
def test_times_are_read_in_the_time_zone_of_the_panel(typed, zone, moment):
    assert f"{datetime.fromisoformat(read_local(typed, zone)).astimezone(UTC):%Y-%m-%dT%H:%M}" == moment


def test_a_time_that_the_clocks_leave_out_is_refused():
    with pytest.raises(RefusedError, match="clocks are put forward"):
        read_local("2026-03-29T02:30", "Europe/Berlin")
    assert read_local("never", "UTC") == "never"  # what is no time at all is refused with the form
    assert in_words("2026-05-01T12:00:00Z", "UTC") == "Friday 1 May 2026, 12:00 (UTC)"


def test_a_time_zone_is_kept_copied_and_checked(service):
    weather = Weather(service)
    assert weather.api.patch(weather.path, json={"time_zone": "Asia/Tokyo"}).json()["time_zone"] == "Asia/Tokyo"
    assert weather.api.patch(weather.path, json={"title": "Other"}).json()["time_zone"] == "Asia/Tokyo"
    assert weather.api.post(f"{weather.path}/copy", json={"title": "Copy"}).json()["time_zone"] == "Asia/Tokyo"
    assert weather.ann.get("/sheet").json()["panel"]["time_zone"] == "Asia/Tokyo"
    for zone in ("Mars/Olympus", "../etc/passwd", "", "Etc/GMT+1"):
        refused(weather.api.patch(weather.path, json={"time_zone": zone}), 422)


def test_a_link_to_the_report_shows_the_result_and_nothing_else(service):
    weather = Weather(service)
    weather.say(weather.ann, rain=0.6, wind=0.5, rain_wind=0.55)
    make = lambda **draft: weather.api.post(f"{weather.path}/report-links", json=draft).json()  # noqa: E731
    plain, whole = make(note="For the board"), make(with_names=True)
    read = lambda made: httpx.get(f"{service.url}{made['link'].removeprefix(service.url)}")  # noqa: E731
    assert "no result to read yet" in read(plain).text
    weather.close()
    weather.aggregate()
    assert "no result to read yet" in read(whole).text  # the panel is not closed
    weather.api.post(f"{weather.path}/rounds", json={"phase": "closed"}).raise_for_status()
    assert "Ann" not in read(plain).text
    assert "rain &amp; wind" in read(plain).text
    assert "Ann" in read(whole).text
    assert "sha256-" in read(whole).headers["content-security-policy"]
    for made in (plain, whole):
        secret = made["link"].rsplit("/", 1)[1]
        for path in (weather.path, f"{weather.path}/board", "/sheet", f"{weather.path}/report-links"):
            refused(service.client(secret).get(path), 401)
        assert httpx.get(f"{service.url}/j/{secret}").status_code == 401
        assert secret not in weather.api.get(f"{weather.path}/report-links").text
    assert weather.api.delete(f"{weather.path}/report-links/{plain['id']}").status_code == 204
    assert read(plain).status_code == 404
    assert "does not hold" in read(plain).text
    refused(Weather(service).api.delete(f"{weather.path}/report-links/{whole['id']}"), 404)
    assert read(whole).status_code == 200


def test_the_page_without_a_mail_server(service):
    with Browser(service.url) as browser:
        browser.get("/")
        panel = re.search(r"(/panels/p_\w+)", str(browser.post("/panels", title="Reach").url))[1]
        browser.post(f"{panel}/questions", title="Rain?", event="rain", kind="yes-no")
        browser.post(f"{panel}/judges", names="Ann\nBob <b>")
        assert "Hello Ann," in browser.text  # a letter with the link, this once
        assert "/j/" in re.search(r'data-copy="Hello Ann,[^"]*"', browser.text)[0]
        page = browser.get(f"{panel}/people").text
        assert "No mail server is set up" in page
        assert "data-only-here" in page
        assert "Hello Bob &lt;b&gt;," in page
        browser.post(f"{panel}/zone", time_zone="Asia/Tokyo")
        assert "Deadlines are now told in the time zone Asia/Tokyo." in browser.text
        browser.get(f"{panel}/board")
        browser.post(f"{panel}/rounds", phase="private", closes_at="2031-05-01T09:00")
        assert "Thu 1 May 2031, 09:00 (Asia/Tokyo)" in browser.get(f"{panel}/board").text
        assert 'value="2031-05-01T09:00"' in browser.text
        assert "2031-05-01T00:00:00.000Z" in browser.text
        assert "09:00 (Asia/Tokyo; 00:00 UTC)" in browser.get(f"{panel}/people").text
        assert browser.client.get(f"{panel}/deadline.ics").text.startswith("BEGIN:VCALENDAR")
        browser.get(f"{panel}/people")
        answer = browser.post(f"{panel}/messages", kind="invitation")
        assert answer.status_code == 422
        assert "No mail server is set up." in browser.text
        browser.post(f"{panel}/report-links", note="<script>", with_names="1")
        link = re.search(r'value="[^"]*(/r/\w+)"', browser.text)[1]
        assert "&lt;script&gt;" in browser.text
        assert browser.client.get(link).status_code == 200
        browser.get(f"{panel}/people")
        browser.post(re.search(rf'action="({panel}/report-links/k_\w+)"', browser.text)[1])
        assert browser.client.get(link).status_code == 404


def test_the_page_with_mail(tmp_path, monkeypatch):
    monkeypatch.setattr("coherently.web.server.Postman.start", lambda _: None)
    monkeypatch.setattr("coherently.web.server.Postman.stop", lambda _: None)
    url = f"sqlite:///{tmp_path}/store.db"
    with (
        Mailbox() as mailbox,
        Service(url, mail=mailbox.settings, address=ORIGIN) as service,
        Browser(service.url) as browser,
    ):
        browser.get("/")
        panel = re.search(r"(/panels/p_\w+)", str(browser.post("/panels", title="Reach").url))[1]
        browser.post(f"{panel}/judges", names="Ann\nBob")
        ann, bob = re.findall(r'name="address-(j_\w+)"', browser.get(f"{panel}/people").text)
        browser.post(f"{panel}/addresses", **{f"address-{ann}": "nobody"})
        assert "cannot be read" in browser.text
        browser.get(f"{panel}/people")
        browser.post(f"{panel}/addresses", **{f"address-{ann}": "ann@example.org", f"address-{bob}": ""})
        assert "1 address saved." in browser.text
        assert "Mail 1 invitation<" in browser.text
        browser.post(f"{panel}/messages", kind="invitation")
        assert "1 mail is on its way." in browser.text
        assert "Mail 1 invitation<" not in browser.text
        assert "Invitation waits" in browser.text
        message = re.search(rf'action="({panel}/messages/m_\w+)"', browser.text)[1]
        browser.post(message, cancel="1")
        assert "The mail is not sent." in browser.text
        browser.post(message)
        assert "on its way once more" in browser.text
        assert f"{ORIGIN}/" not in browser.text  # links are in letters only
