"""The pages in a real browser, without network."""

from functools import cache

import pytest

import coherently as co
from coherently.report.names import shown
from tests.panels import TABLE_2
from tests.report.pages import HOSTILE, check_of, hostile_formulas, hostile_panel, page_of

WIDTHS = [(1280, 800), (390, 800), (320, 800)]


@cache
def simulated_page(make):
    """The page of nine judges, made once."""
    return make(co.simulate(judges=9, variables=12, compound=15, seed=1))


class Visit:
    """A page that was opened, and all that it did besides being shown."""

    def __init__(self, browser, path, size=(1280, 800), scheme="light"):
        self.events = []
        self.page = browser.new_page(viewport=dict(zip(("width", "height"), size, strict=True)), color_scheme=scheme)
        self.page.on("console", lambda message: self.events.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.events.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: (self.events.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        self.page.on("request", lambda request: self.events.append(request.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_load_state("networkidle")
        self.events = [event for event in self.events if event not in (path.as_uri(), "data:,")]

    def measure(self, expression):
        return self.page.evaluate(f"() => {expression}")


@pytest.fixture
def visit(chromium, tmp_path):
    opened = []

    def go(page, **options):
        path = tmp_path / "report.html"
        path.write_text(page, "utf-8")
        opened.append(Visit(chromium, path, **options))
        return opened[-1]

    yield go
    for each in opened:
        each.page.close()


def test_the_answer_and_the_first_numbers_are_on_the_first_screen(visit):
    seen = visit(page_of(co.Panel.from_records(TABLE_2), name="table2.csv"))
    assert seen.events == []
    for element in ("h1", ".lead", ".boxes", "#before-after", ".forecasts"):
        box = seen.page.locator(element).bounding_box()
        assert box["y"] + box["height"] <= 800, element
        assert box["x"] + box["width"] <= 1280, element


def test_no_ordinary_word_is_broken(visit):
    labels = {"p": "Incoherent supplier deliveries", "q": "Budget overrun", "p & q": "Both of these things together"}
    seen = visit(page_of(co.Panel.from_records(TABLE_2, labels=labels)), size=(390, 800))
    assert seen.measure(BROKEN) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", WIDTHS)
@pytest.mark.parametrize("make", [page_of, check_of])
def test_nothing_is_asked_of_the_network_and_nothing_sticks_out(visit, make, size, scheme):
    seen = visit(simulated_page(make), size=size, scheme=scheme)
    assert seen.events == []
    assert seen.measure("document.documentElement.scrollWidth") <= size[0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(visit, scheme):
    seen = visit(page_of(co.Panel.from_records(TABLE_2, outcomes={"p": True, "q": False})), scheme=scheme)
    worst = seen.measure(CONTRAST)
    assert worst["ratio"] >= 4.5, worst


@pytest.mark.parametrize("panel", [hostile_panel(), hostile_formulas()], ids=["names", "formulas"])
@pytest.mark.parametrize("make", [page_of, check_of])
def test_hostile_names_are_shown_and_do_nothing(visit, panel, make):
    seen = visit(make(panel, name='"><script>alert(0)</script>.csv'))
    assert seen.events == []
    assert seen.measure("document.querySelectorAll('script, img, iframe, [onload], [onerror]').length") == 0
    text = " ".join(seen.measure("document.body.textContent").split())
    # The first of the formulas has a label, which stands for it.
    for name in (*panel.labels.values(), *HOSTILE[len(panel.labels) :]):
        assert " ".join(shown(name).split()) in text


def test_the_certificate_can_be_saved_and_verified(visit, tmp_path):
    panel = co.Panel.from_records(TABLE_2)
    seen = visit(page_of(panel))
    with seen.page.expect_download() as waiting:
        seen.page.get_by_text("Save certificate.json").click()
    path = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(path)
    assert path.name == "certificate.json"
    assert co.verify(panel, co.Result.from_json(path))


def test_a_keyboard_reaches_the_link_and_the_details(visit):
    seen = visit(page_of(co.Panel.from_records(TABLE_2, outcomes={"p": True, "q": False})))
    reached = set()
    for _ in range(20):
        seen.page.keyboard.press("Tab")
        reached.add(seen.measure("document.activeElement.textContent.trim()"))
    assert {"Save certificate.json", "The numbers"} <= reached


def test_print_shows_whole_tables_on_white(visit):
    seen = visit(simulated_page(page_of), scheme="dark")
    seen.page.emulate_media(media="print")
    assert seen.measure("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert seen.measure("[...document.querySelectorAll('.scroll')].every(e => e.scrollHeight <= e.clientHeight + 1)")
    assert seen.page.pdf()[:5] == b"%PDF-"


def test_on_paper_nothing_is_cut_and_nobody_is_broken_across_pages(visit):
    seen = visit(simulated_page(page_of), size=(688, 900), scheme="dark")
    seen.page.emulate_media(media="print")
    assert seen.measure("document.documentElement.scrollWidth") <= 688
    parts = "[...document.querySelectorAll('.person, .reason, .levers li, tr')]"
    assert seen.measure(f"{parts}.every(e => getComputedStyle(e).breakInside === 'avoid')")
    assert seen.measure("getComputedStyle(document.querySelector('.appendix')).breakBefore") == "page"


BROKEN = """{
  const broken = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode;
    if (node.parentElement.closest('pre, code')) continue;
    for (const found of node.textContent.matchAll(/[A-Za-z]+/g)) {
      const range = document.createRange();
      range.setStart(node, found.index);
      range.setEnd(node, found.index + found[0].length);
      const lines = new Set([...range.getClientRects()].map(box => Math.round(box.top)));
      if (lines.size > 1) broken.push(found[0]);
    }
  }
  return broken;
}"""


CONTRAST = """{
  const light = colour => {
    const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map(c => {
      c /= 255;
      return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = element => {
    for (let e = element; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if (colour !== 'rgba(0, 0, 0, 0)') return colour;
    }
  };
  let worst = {ratio: 99};
  for (const element of document.body.querySelectorAll('*')) {
    if (![...element.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) continue;
    if (!element.getClientRects().length) continue;
    const style = getComputedStyle(element);
    const colour = element instanceof SVGElement ? style.fill : style.color;
    const [a, b] = [light(colour), light(ground(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < worst.ratio) worst = {ratio, text: element.textContent.slice(0, 60), colour};
  }
  return worst;
}"""
