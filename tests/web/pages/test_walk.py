"""The whole way of a panel in a browser: created, answered on two phones, closed, aggregated, reported and verified."""

import json
import re

import pytest
from playwright.sync_api import expect

import coherently as co
from coherently.web.pages.formats import percent
from tests.web.pages.conftest import Seen

SLOW = 5_000.0
"""Milliseconds within which feedback appears on any machine; docs/benchmarks.md has the time on a quiet one."""
WATCH = """number => {
  const note = document.getElementById(`n${number}`), walk = (window.walk = {});
  new MutationObserver(() => {
    if (walk.sent && !walk.clash && note.querySelector('.clash')) walk.clash = performance.now() - walk.sent;
  }).observe(note, { childList: true, subtree: true });
  const band = document.querySelector(`#q${number} .bandg`);
  const hidden = () => band.getAttribute('visibility') === 'hidden';
  new MutationObserver(() => {
    if (walk.sent && !walk.band && !hidden()) walk.band = performance.now() - walk.sent;
  }).observe(band, { attributes: true, childList: true, subtree: true });
  document.addEventListener('keydown', event => { if (event.key === 'Enter') walk.sent = performance.now(); }, true);
}"""
"""Notes how long after Enter the contradiction and the band of a question appear."""


@pytest.fixture
def open_page(chromium, served):
    opened = []

    def go(path, **options):
        opened.append(Seen(chromium, served, path.removeprefix(served), **options))
        return opened[-1]

    yield go
    for each in opened:
        each.context.close()


def create(leader):
    """A panel with three questions, made and asked by hand; the links of two judges."""
    page = leader.page
    page.get_by_label("Name").fill("A walk")
    page.get_by_role("button", name="Create the panel").click()
    form = page.get_by_role("form", name="New question")
    for title, formula, short in (
        ("There is a recession in 2027", "recession", "a recession"),
        ("The rate is cut by June", "cut", "a rate cut"),
        ("A recession, and a rate cut", "recession & cut", "a recession and a rate cut"),
    ):
        form.get_by_label("The question, as judges read it").fill(title)
        form.get_by_label("As a formula").fill(formula)
        form.get_by_label("Short, for sentences").fill(short)
        form.get_by_role("button", name="Add the question").click()
        page.locator(".qlist h3", has_text=title).wait_for()
    page.get_by_label("Names, one on each line").fill("Ann\nBob")
    page.get_by_role("button", name="Invite", exact=True).click()
    return [page.get_by_label(name, exact=True).input_value() for name in ("Ann", "Bob")]


def answer(seen, numbers):
    """Type the numbers, each with Enter, and wait until they are on the disk."""
    page = seen.page
    page.wait_for_selector("body[data-ready]")
    for number, value in enumerate(numbers, start=1):
        field = page.locator(f"#q{number} input[type=text]")
        field.fill(str(value))
        field.press("Enter")
    page.wait_for_function("() => /^Saved/.test(document.querySelector('.thumbbar [data-saved]').innerText)")


def hand_in(seen):
    seen.page.locator(".thumbbar [data-hand]").click()
    seen.page.locator("#handed").get_by_text("handed in").wait_for()


def test_the_walk(open_page, served, tmp_path):
    leader = open_page("/")
    links = create(leader)
    panel = re.search(r"/panels/p_\w+", leader.page.url)[0]
    board = open_page(f"{panel}/board", context=leader.context)
    board.page.locator(".lead", has_text="Nobody has answered yet.").wait_for()

    ann = open_page(links[0], size="phone")
    ann.page.wait_for_selector("body[data-ready]")
    ann.page.evaluate(WATCH, 3)
    answer(ann, (30, 55, 36))
    clash = ann.page.locator("#n3 .clash")
    clash.get_by_text(re.compile(r"cannot be likelier than a recession alone \(30.%\)")).wait_for()
    ann.page.wait_for_function("() => walk.clash && walk.band")
    took = ann.page.evaluate("walk")
    print(f"after Enter: contradiction {took['clash']:.0f} ms, band {took['band']:.0f} ms")
    assert max(took["clash"], took["band"]) < SLOW
    assert ann.width() <= 390
    board.page.locator("[data-live=contradictions] b", has_text="Ann").wait_for()

    clash.get_by_role("button", name="Make it fit").click()
    clash.wait_for(state="detached")
    shown = [ann.page.locator(f"#q{number} input[type=text]").input_value() for number in (1, 2, 3)]
    assert shown == ["33", "55", "33"]
    hand_in(ann)
    board.page.locator("[data-live=people] tbody", has_text="Handed in").get_by_text("Ann").wait_for()

    bob = open_page(links[1], size="phone", scheme="dark")
    answer(bob, (20, 60, 30))
    bob.page.locator("#n3 .clash").wait_for()
    hand_in(bob)
    board.page.locator(".lead", has_text="2 judges have handed in").wait_for()

    board.page.get_by_role("button", name="Close round 1").click()
    board.page.get_by_role("button", name="Open the revision").click()
    board.page.get_by_role("button", name="Close the panel").click()
    board.page.get_by_role("link", name="Look at the results").click()
    check_results(board, panel, served, tmp_path)
    ann.page.locator("[data-shut]").wait_for()
    for each in (leader, board, ann, bob):
        assert each.troubles == []


def newest_version(seen, versions):
    """The last version, once it is done: until then the page shows the one that the first round gave."""
    while (newest := seen.context.request.get(versions).json()["aggregations"][0])["status"] in ("queued", "running"):
        seen.page.wait_for_timeout(50)
    assert newest["status"] == "done"
    return newest


def check_results(seen, panel, served, tmp_path):
    """The aggregate is that of the library, and the report's certificate verifies."""
    rows = [("Ann", "recession", 0.33), ("Bob", "recession", 0.2), ("Ann", "cut", 0.55), ("Bob", "cut", 0.6)]
    rows += [("Ann", "recession & cut", 0.33), ("Bob", "recession & cut", 0.3)]
    asked = co.Panel.from_records(rows)
    expected = co.aggregate(asked)
    seen.page.get_by_text("Jointly coherent, and proved to be the nearest to the answers.").wait_for()
    versions = f"{served}/api/v1{panel}/aggregations"
    newest = newest_version(seen, versions)
    result = seen.context.request.get(f"{versions}/{newest['id']}/result").json()
    found = {row["event"]: row["probability"] for row in result["events"]}
    events = ["recession", "cut", "recession & cut"]
    assert [found[event] for event in events] == pytest.approx(list(map(expected.probability, events)), abs=1e-9)
    cells = seen.page.locator(".fcs tbody tr[data-event] b")
    expect(cells).to_have_text([percent(found[event]) for event in events])  # the page may load itself anew meanwhile
    assert co.verify(asked, co.Result.from_json(json.dumps(result["result"])))

    with seen.page.expect_download() as waiting:
        seen.page.get_by_role("link", name="Download the report").click()
    report = tmp_path / "report.html"
    waiting.value.save_as(report)
    page = seen.context.new_page()
    page.goto(report.as_uri())
    with page.expect_download() as waiting:
        page.get_by_text("save certificate.json").click()
    certificate = tmp_path / "certificate.json"
    waiting.value.save_as(certificate)
    page.close()
    assert co.verify(asked, co.Result.from_json(certificate))
