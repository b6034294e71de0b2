import pytest

from tests.browser.page_checks import make_page

PATIENCE = 120_000
"""Milliseconds that a busy machine may take to show what a test waits for."""


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    """The address of the page, which is compiled if anything changed."""
    return make_page(tmp_path_factory.mktemp("browser"))


class Visit:
    """The page, and everything that went wrong on it."""

    def __init__(self, chromium, address, size=(1280, 900), scheme="light"):
        self.context = chromium.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
        self.context.set_offline(True)
        self.troubles = []
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.page.on("console", lambda message: self.troubles.append(message.text))
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("request", lambda request: self._asked(request.url, address))
        self.page.goto(address)
        self.wait(1)

    def _asked(self, url, address):
        if url != address:
            self.troubles.append(f"asked for {url}")

    def wait(self, shown):
        """Wait until so many answers were shown."""
        self.page.wait_for_selector(f'body[data-shown="{shown}"]')

    def fill(self, forecasts, laws="", question=""):
        """Type a panel, and ask."""
        for name, text in {
            "Forecasts": forecasts,
            "Laws (optional)": laws,
            "Another event (optional)": question,
        }.items():
            self.page.get_by_label(name, exact=True).fill(text)
        before = int(self.page.get_attribute("body", "data-shown"))
        self.page.get_by_role("button", name="Make coherent").click()
        self.wait(before + 1)

    @property
    def refusal(self):
        return self.page.get_by_role("alert").inner_text()

    @property
    def answer(self):
        return self.page.locator("#answer").inner_text()

    def width(self):
        return self.page.evaluate("document.documentElement.scrollWidth")


@pytest.fixture
def visit(chromium, address):
    opened = []

    def go(**options):
        opened.append(Visit(chromium, address, **options))
        return opened[-1]

    yield go
    for each in opened:
        each.context.close()
