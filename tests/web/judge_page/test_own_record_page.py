"""What a judge sees of their own score over several panels, at the end of each."""

import pytest

from tests.web.judge_page.test_discussion_page import plain, violations
from tests.web.pages.conftest import Seen


@pytest.fixture(autouse=True)
def earlier(panel):
    """A closed panel of the same facilitator: 20 known answers of Alice, and of Bob. The current one is closed, too."""
    api = panel.api
    path = f"/panels/{api.post('/panels', json={'title': 'Last year'}).json()['id']}"
    events = []
    for number in range(20):
        draft = {"title": f"Event {number}", "events": [{"event": f"e{number}", "title": ""}]}
        events.append(api.post(f"{path}/questions", json=draft).json()["events"][0]["id"])
    for name, low in (("Alice", 0.2), ("Bob", 0.4)):
        client = panel.workshop.client(api.post(f"{path}/judges", json={"name": name}).json()["secret"])
        drafts = [{"event": e, "probability": low if n % 2 else 1 - low} for n, e in enumerate(events)]
        client.post("/sheet/answers", json={"answers": drafts}).raise_for_status()
        client.close()
    for number, event in enumerate(events):
        known = {"event": event, "outcome": number % 2 == 0}
        api.post(f"{path}/outcomes", json=known).raise_for_status()
    panel.answer(recession=30, cut=55)
    api.post(f"{path}/rounds", json={"phase": "closed"}).raise_for_status()
    panel.advance("closed")
    api.post(f"/panels/{panel.id}/outcomes", json={"event": "recession", "outcome": True}).raise_for_status()
    return path


@pytest.mark.parametrize("options", [{"size": "desktop"}, {"size": "phone", "scheme": "dark"}])
def test_the_own_score_over_all_panels(chromium, panel, options):
    sheet = Seen(chromium, panel.workshop.url, panel.link.removeprefix(panel.workshop.url), **options)
    try:
        assert sheet.page.locator("section[aria-labelledby=record]").count() == 0  # this panel has its own section
        panel.api.post("/scores/people", json={"name": "Alice"}).raise_for_status()
        sheet.page.reload()
        told = plain(sheet.page.locator("section[aria-labelledby=record]").inner_text())
        assert "In 2 panels, 21 of your answers are known: Brier score 0.061 over all of them." in told
        assert "Last year 20 0.040" in " ".join(told.split())
        rows = sheet.page.locator("section[aria-labelledby=record] .cellsof tbody tr").all_inner_texts()
        assert [plain(" ".join(row.split())) for row in rows] == ["20 % 0 % 10", "30 % 100 % 1", "80 % 100 % 10"]
        assert "Bob" not in sheet.page.content()
        assert violations(sheet.page) == []
        assert sheet.page.evaluate("document.documentElement.scrollWidth") <= sheet.page.viewport_size["width"]
        assert sheet.troubles == []
    finally:
        sheet.context.close()
