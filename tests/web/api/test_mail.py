"""Mail to judges over a real mail server: sent once, failures shown and tried again, nothing sent that is unwanted."""

import re
import time
from dataclasses import replace

import pytest

from coherently.web.jobs import postman
from coherently.web.jobs.postman import send_next
from coherently.web.settings import SettingsError, read_address, read_mail
from tests.web.api.service import Service, Weather, refused
from tests.web.mail_server import Mailbox

ORIGIN = "https://panel.example.org"


@pytest.fixture
def mailbox():
    with Mailbox() as opened:
        yield opened


@pytest.fixture
def quiet(store_url, mailbox, monkeypatch):
    """A workbench whose mail is sent by the tests, one by one."""
    monkeypatch.setattr("coherently.web.server.Postman.start", lambda _: None)
    monkeypatch.setattr("coherently.web.server.Postman.stop", lambda _: None)
    with Service(store_url, mail=mailbox.settings, address=ORIGIN) as service:
        weather = Weather(service)
        for judge in (weather.ann_record, weather.bob_record):
            address = f"{judge['name'].lower()}@example.org"
            weather.api.patch(f"{weather.path}/judges/{judge['id']}", json={"address": address}).raise_for_status()
        weather.deliver = lambda: send_next(service.store, mailbox.settings)
        yield weather


def queue(weather, kind="invitation", **draft):
    return weather.api.post(f"{weather.path}/messages", json={"kind": kind, **draft})


def states(weather):
    return [each["state"] for each in weather.api.get(f"{weather.path}/messages").json()["messages"]]


def test_invitations_are_sent_once_with_links_that_open(quiet, mailbox):
    closes = {"phase": "private", "closes_at": "2031-05-01T12:00:00Z"}
    quiet.api.patch(quiet.path, json={"time_zone": "Europe/Berlin"}).raise_for_status()
    quiet.api.post(f"{quiet.path}/rounds", json=closes).raise_for_status()
    told = queue(quiet)
    assert told.status_code == 202
    assert [each["address"] for each in told.json()["messages"]] == ["ann@example.org", "bob@example.org"]
    while quiet.deliver():
        pass
    assert states(quiet) == ["sent", "sent"]
    assert [mail["To"] for mail in mailbox.mails] == ["ann@example.org", "bob@example.org"]
    mail, text = mailbox.mails[0], mailbox.text(0)
    assert mail["Subject"] == "Your answers, please: Weather"
    assert "Hello Ann," in text
    assert "Thursday 1 May 2031, 14:00 (Europe/Berlin; 12:00 UTC)" in text
    secret = re.search(rf"{ORIGIN}/j/(\w+)", text)[1]
    assert quiet.service.client(secret).get("/sheet").json()["judge"]["name"] == "Ann"
    assert quiet.ann.get("/sheet").status_code == 200  # the first link holds, too
    (attached,) = mail.iter_attachments()
    assert attached.get_content_type() == "text/calendar"
    assert "DTEND:20310501T120000Z" in attached.get_content()
    again = queue(quiet).json()
    assert again["messages"] == []
    assert {each["reason"] for each in again["left_out"]} == {"sent"}
    assert not quiet.deliver()
    assert len(queue(quiet, again=True).json()["messages"]) == 2


def test_a_request_that_is_sent_again_queues_nothing_twice(quiet):
    for _ in range(3):
        sent = quiet.api.post(f"{quiet.path}/messages", json={"kind": "reminder"}, headers={"Idempotency-Key": "1"})
        assert len(sent.json()["messages"]) == 2
    assert states(quiet) == ["waiting", "waiting"]


def test_reminders_go_to_those_who_are_missing_and_say_what_is_open(quiet, mailbox):
    quiet.say(quiet.ann, rain=0.5, wind=0.5, rain_wind=0.2)
    quiet.ann.post("/sheet/hand-in").raise_for_status()
    quiet.say(quiet.bob, rain=0.5)
    told = queue(quiet, "reminder").json()
    assert [each["judge"] for each in told["messages"]] == [quiet.bob_record["id"]]
    assert told["left_out"] == [{"judge": quiet.ann_record["id"], "reason": "handed-in"}]
    quiet.deliver()
    assert "2 questions are open" in mailbox.text()
    letters = quiet.api.get(f"{quiet.path}/letters/reminder").json()["letters"]
    assert [each["name"] for each in letters] == ["Bob"]
    assert "{link}" in letters[0]["text"]


def test_a_reminder_that_is_no_longer_needed_is_not_sent(quiet, mailbox):
    queue(quiet, "reminder")
    quiet.ann.post("/sheet/hand-in").raise_for_status()
    quiet.api.delete(f"{quiet.path}/judges/{quiet.bob_record['id']}/link")
    while quiet.deliver():
        pass
    assert states(quiet) == ["cancelled", "cancelled"]
    assert mailbox.mails == []


def test_a_refusal_for_now_is_tried_again_and_one_for_good_is_not(quiet, mailbox, monkeypatch):
    monkeypatch.setattr(postman, "PAUSES", (0.0, 0.0))
    mailbox.refused = ["451 try later", "rcpt 450 busy"]
    queue(quiet, judges=[quiet.ann_record["id"]])
    links = []
    for attempt in range(1, 4):
        (waits,) = quiet.api.get(f"{quiet.path}/messages").json()["messages"]
        links.append(waits["error"])
        time.sleep(0.01)
        assert quiet.deliver(), attempt
    assert links == ["", "The mail server answered 451: try later", "The mail server answered 450: busy"]
    assert states(quiet) == ["sent"]
    assert len(mailbox.mails) == 1
    mailbox.refused = ["rcpt 550 no such mailbox"]
    queue(quiet, judges=[quiet.bob_record["id"]])
    quiet.deliver()
    failed = quiet.api.get(f"{quiet.path}/messages").json()["messages"][-1]
    assert (failed["state"], failed["error"]) == ("failed", "The mail server answered 550: no such mailbox")
    assert not quiet.deliver()
    again = quiet.api.post(f"{quiet.path}/messages/{failed['id']}/repeat").json()
    assert again["state"] == "waiting"
    quiet.deliver()
    assert states(quiet) == ["sent", "sent"]


def test_after_the_last_pause_it_has_failed(quiet, mailbox, monkeypatch):
    monkeypatch.setattr(postman, "PAUSES", (0.0,))
    mailbox.refused = ["451 later"] * 5
    queue(quiet, judges=[quiet.ann_record["id"]])
    count = 0
    while quiet.deliver():
        count += 1
    assert count == 2
    assert states(quiet) == ["failed"]


def test_a_server_that_hangs_up_after_taking_a_mail_leaves_one_mail_and_a_question(quiet, mailbox):
    mailbox.hang_up = True
    queue(quiet, judges=[quiet.ann_record["id"]])
    quiet.deliver()
    assert not quiet.deliver()
    (left,) = quiet.api.get(f"{quiet.path}/messages").json()["messages"]
    assert left["state"] == "unsure"
    assert "Nobody knows whether the mail was sent" in left["error"]
    assert len(mailbox.mails) == 1
    assert queue(quiet, judges=[quiet.ann_record["id"]]).json()["left_out"][0]["reason"] == "unsure"
    secret = re.search(rf"{ORIGIN}/j/(\w+)", mailbox.text())[1]
    assert quiet.service.client(secret).get("/sheet").status_code == 200  # if it did arrive, its link opens


def test_a_server_that_is_away_is_said(quiet, mailbox):
    away = replace(mailbox.settings, port=1)
    queue(quiet, judges=[quiet.ann_record["id"]])
    assert send_next(quiet.service.store, away)
    (waits,) = quiet.api.get(f"{quiet.path}/messages").json()["messages"]
    assert (waits["state"], waits["attempts"]) == ("waiting", 1)
    assert "cannot be reached" in waits["error"]
    cancelled = quiet.api.post(f"{quiet.path}/messages/{waits['id']}/cancel").json()
    assert cancelled["state"] == "cancelled"
    refused(quiet.api.post(f"{quiet.path}/messages/{waits['id']}/cancel"), 409, "is cancelled")


def test_the_postman_sends_by_itself_and_two_workbenches_share_the_work(store_url, mailbox):
    options = {"mail": mailbox.settings, "address": ORIGIN}
    with Service(store_url, **options) as one, Service(store_url, **options) as two:
        weather = Weather(one)
        for number in range(12):
            draft = {"name": f"Judge {number}", "address": f"j{number}@example.org"}
            weather.api.post(f"{weather.path}/judges", json=draft).raise_for_status()
        left = {each["reason"] for each in queue(weather).json()["left_out"]}
        assert left == {"no-address"}
        deadline = time.monotonic() + 60
        while set(states(weather)) != {"sent"} and time.monotonic() < deadline:
            time.sleep(0.05)
        assert two.store.messages.list(weather.id)
    assert sorted(mail["To"] for mail in mailbox.mails) == sorted(f"j{number}@example.org" for number in range(12))


def test_nothing_is_mailed_without_a_server_or_with_links_that_nobody_can_open(store_url, mailbox):
    with Service(store_url) as service:
        weather = Weather(service)
        refused(queue(weather), 409, "No mail server is set up", "--mail")
    with Service(store_url, mail=mailbox.settings) as service:
        service._panels = 1
        weather = Weather(service)
        error = refused(queue(weather), 409, "no other computer reaches", "--address")
        assert error["code"] == "only-here"
        assert states(weather) == []


def test_mail_belongs_to_its_panel(quiet):
    name = queue(quiet).json()["messages"][0]["id"]
    other = Weather(quiet.service)
    for path in (f"{other.path}/messages/{name}/repeat", f"{other.path}/messages/{name}/cancel"):
        refused(other.api.post(path), 404)
    refused(other.api.get(f"{quiet.path}/messages"), 404)
    refused(other.api.get(f"{quiet.path}/letters/reminder"), 404)
    refused(quiet.ann.get(f"{quiet.path}/messages"), 401)
    refused(queue(quiet, judges=[other.ann_record["id"]]), 404)
    assert "example.org" not in quiet.ann.get("/sheet").text


def test_addresses_that_are_none(quiet):
    judge = f"{quiet.path}/judges/{quiet.ann_record['id']}"
    for address in ("ann", "ann@", "@b", "a b@c.d", "a@b\nBcc: c@d", "ä@example.org", "a,b@c.d", "a@b.c\n"):
        refused(quiet.api.patch(judge, json={"address": address}), 422)
    assert quiet.api.patch(judge, json={"address": "a.b+c@mail.example.org"}).json()["address"]


@pytest.mark.parametrize("url", ["http://x", "smtp://", "smtps://u:secret@host", "smtp://h:port", "smtp://h/path"])
def test_mail_servers_that_cannot_be_read(url):
    with pytest.raises(SettingsError, match="COHERENTLY_MAIL_PASSWORD") as error:
        read_mail(url, "a@b.c")
    assert "secret" not in str(error.value)


def test_mail_settings():
    assert read_mail("smtps://u%40x@h", "a@b.c").user == "u@x"
    assert read_mail("smtp://127.0.0.1", "a@b.c").security == "none"
    assert read_mail("smtp://mail.example.org", "a@b.c").security == "smtp"
    assert "secret" not in repr(read_mail("smtps://u@h", "a@b.c", "secret"))
    with pytest.raises(SettingsError, match="sender"):
        read_mail("smtps://h", "nobody")
    with pytest.raises(SettingsError, match="--address"):
        read_address("panel.example.org")


def test_mail_is_not_given_to_a_server_without_encryption(quiet, mailbox):
    """A server elsewhere must encrypt; this one does not offer it, so nothing leaves."""
    queue(quiet, judges=[quiet.ann_record["id"]])
    assert send_next(quiet.service.store, replace(mailbox.settings, security="smtp"))
    (waits,) = quiet.api.get(f"{quiet.path}/messages").json()["messages"]
    assert "offers no encryption" in waits["error"]
    assert mailbox.mails == []
