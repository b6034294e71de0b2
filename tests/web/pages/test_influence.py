"""The pages of influence, weights, recipes and scores, as a browser without script uses them."""

import html
import json
import re
import time
from math import isnan

import pytest

import coherently as co


def versions(browser, panel):
    """All versions of a panel, once none is under way."""
    for _ in range(240):
        found = browser.client.get(f"/api/v1{panel}/aggregations").json()["aggregations"]
        if not any(each["status"] in ("queued", "running") for each in found):
            return found
        time.sleep(0.25)
    raise AssertionError(found)


def finished_page(browser, path):
    """A page of influence with its table: as long as it says that this is not finished, its link is followed."""
    for _ in range(480):
        page = browser.get(path).text
        if 'data-whole="unfinished"' not in page:
            return page
        assert "The table is not finished yet." in page
        assert 'http-equiv="refresh"' in page
        path = re.search(r'<a href="([^"]*)">Look again</a>', page)[1].replace("&amp;", "&")
        time.sleep(0.25)
    raise AssertionError(page)


@pytest.fixture(scope="module")
def panel(served):
    """The closed panel of a demo of its own, so that versions made here are nobody else's."""
    from tests.web.pages.conftest import Browser

    with Browser(served) as made:
        made.get("/")
        made.post("/demo")
        found = made.client.get("/api/v1/panels").json()["panels"]
        path = next(f"/panels/{each['id']}" for each in found if each["round"]["phase"] == "closed")
        versions(made, path)
        yield path


def test_the_table_says_what_the_library_says(browser, panel):
    newest = versions(browser, panel)[0]
    api = f"/api/v1{panel}/aggregations/{newest['id']}"
    result = browser.client.get(f"{api}/result").json()
    table = co.aggregate(co.Panel.from_records(result["forecasts"], laws=result["laws"])).influence()
    page = finished_page(browser, f"{panel}/influence")
    top = table.of_kind("judge")[0]

    def per_cent(p):
        return int(100 * p + 0.5 + 1e-9)  # halves go up

    def moves(row):
        """The differences of whole per cents; a number that is not asked about has none."""
        both = [(now, now + change) for now, change in zip(table.probability, row.change, strict=True)]
        return [per_cent(after) - per_cent(now) for now, after in both if not isnan(after)]

    most = max(abs(points) for one in table.of_kind("judge") for points in moves(one))
    assert f"No single judge moves any number by more than {most} points: {top.name} moves" in page
    row = re.search(rf'<tr><th scope="row"><a[^>]*>{top.name}</a></th>(.*?)</tr>', page)[1]
    shown = re.findall(r"<td[^>]*>(?:<a[^>]*>)?([^<]+)", row)
    assert sorted(shown) == sorted(
        "·" if not points else f"{'+' if points > 0 else '−'}{abs(points)}" for points in moves(top)
    )
    for key in re.findall(r'<a href="#(m-[^"]+)"', page):
        assert f'<p id="{key}"' in page
    rows = browser.client.get(f"{panel}/aggregations/{newest['id']}/influence.csv").text.splitlines()
    assert rows[0] == "kind,left_out,event,probability,change"
    script = browser.client.get(f"{panel}/aggregations/{newest['id']}/influence.py").text
    assert "print(result.influence().frame())" in script


def test_the_page_says_why_a_number_is_what_it_is(browser, panel):
    newest = versions(browser, panel)[0]
    result = browser.client.get(f"/api/v1{panel}/aggregations/{newest['id']}/result").json()
    page = finished_page(browser, f"{panel}/influence")
    events = dict(re.findall(r'<option value="(e_\w+)">([^<]+)', page[page.index('name="why"') :]))
    assert len(events) == len(result["events"])
    moved = max(result["events"], key=lambda row: abs(row["probability"] - row["raw"]))
    listed = browser.client.get(f"/api/v1{panel}/questions").json()["questions"]
    event = next(e["id"] for question in listed for e in question["events"] if e["event"] == moved["event"])
    labels = {row["event"]: row["title"] for row in result["events"] if row["title"]}
    expected = co.aggregate(co.Panel.from_records(result["forecasts"], laws=result["laws"], labels=labels))
    page = finished_page(browser, f"{panel}/influence?why={event}")
    shown = [html.unescape(one) for one in re.findall(r"<li>(.*?)</li>", page[page.index('id="why"') :])]
    assert shown[: len(shown)] == list(expected.why(moved["event"]).sentences)
    assert len(shown) > 1
    assert f'<option value="{event}" selected>' in page
    assert "There is no such event in this version." in finished_page(browser, f"{panel}/influence?why=e_none")


def test_a_judge_is_left_out_with_one_click_and_made_a_version_with_another(browser, panel):
    page = finished_page(browser, f"{panel}/influence")
    link = re.search(r'href="(\?[^"]*)#leave" aria-label="Leave out Bob"', page)[1].replace("&amp;", "&")
    page = finished_page(browser, f"{panel}/influence{link}")
    said = re.search(r"Without Bob, (\d+) of 15 numbers move, by (\d+) points at most", page)
    assert int(said[1]) == len(re.findall(r"<td>[+−]\d+</td></tr>", page))
    name = re.search(r'name="(without-j_\w+)"', page)[1]
    before = versions(browser, panel)
    browser.post(f"{panel}/aggregations", **{name: "1"})
    newest = versions(browser, panel)[0]
    assert newest["version"] == before[0]["version"] + 1
    assert newest["left_out"] == ["Bob"]
    page = browser.get(f"{panel}/results").text
    assert "Without Bob." in page.split('class="lead"')[1].split("</p>")[0]
    rows = browser.client.get(f"/api/v1{panel}/aggregations/{newest['id']}/result").json()["forecasts"]
    assert "Bob" not in {row["judge"] for row in rows}


def test_weights_are_typed_and_wrong_ones_are_refused(browser, panel):
    page = finished_page(browser, f"{panel}/influence")
    fields = dict.fromkeys(re.findall(r'name="(weight-j_\w+)"', page), "1")
    first = next(iter(fields))
    browser.post(f"{panel}/aggregations", weigh="hand", **fields | {first: "2,5"})
    assert max(versions(browser, panel)[0]["weights"].values()) == 2.5
    browser.get(f"{panel}/influence")
    answer = browser.post(f"{panel}/aggregations", weigh="hand", **fields | {first: "much"})
    assert answer.status_code == 422
    assert "“much” is not a weight" in browser.text


def test_a_recipe_file_makes_a_version_and_can_be_saved_again(browser, panel):
    browser.get(f"{panel}/results")
    recipe = co.Recipe("median", exponent=1.2)
    file = {"recipe": ("recipe.json", json.dumps(recipe.as_dict()).encode(), "application/json")}
    browser.post(f"{panel}/aggregations", files=file, method="auto")
    newest = versions(browser, panel)[0]
    assert newest["method"] == "recipe"
    page = browser.get(f"{panel}/results").text
    address = re.search(r'href="([^"]+/recipe\.json)"', page)[1]
    assert co.Recipe.from_dict(browser.client.get(address).json()) == recipe
    answer = browser.post(f"{panel}/aggregations", files={"recipe": ("wrong.json", b"{}x", "application/json")})
    assert answer.status_code == 422
    assert "wrong.json is not a recipe" in browser.text


def test_past_panels_teach(browser, panel):
    """Two demos have the same judges; the outcomes of one teach the other."""
    page = finished_page(browser, f"{panel}/influence")
    assert "By past score." in page
    browser.post(f"{panel}/aggregations", weigh="past")
    newest = versions(browser, panel)[0]
    assert (newest["learn"], newest["status"]) == ("weights", "done")
    assert "Judges count by their past scores." in browser.get(f"{panel}/results").text
    browser.post(f"{panel}/aggregations", method="learned")
    newest = versions(browser, panel)[0]
    assert (newest["learn"], newest["method"], newest["status"]) == ("recipe", "recipe", "done")
    assert "what your past panels teach" in browser.get(f"{panel}/results").text


def test_scores_are_per_answer_and_per_event(browser, panel):
    page = browser.get(f"{panel}/results").text
    assert "per answer" in page
    assert "per event" in page
    page = browser.get("/scores").text
    found = browser.client.get("/api/v1/scores").json()
    for each in found["judges"]:
        assert f"<b>{each['brier']:.3f}</b>" in page
    assert found["judges"][0]["panels"] >= 2
    assert "Scores over all panels" in browser.get("/").text


@pytest.mark.usefixtures("panel")
def test_the_facilitator_says_who_is_one_person(browser):
    def row():
        found = re.search(r'<tr><th scope="row" class="text">Alice</th>(.*?)</tr>', browser.get("/scores").text)[1]
        return " ".join(re.sub(r"<[^>]*>", " ", found).split())

    assert re.search(r"in \d+ panels, not known Yes, one person$", row())
    assert browser.post("/scores", name="Alice").status_code == 200
    assert "Alice is one person, and sees the score over all panels" in browser.text
    assert re.search(r"yes, in \d+ panels Not one person$", row())
    browser.post("/scores", name="Alice", apart="1")
    assert re.search(r"in \d+ panels, not known Yes, one person$", row())
    assert browser.post("/scores", name="Nobody").status_code == 422
    assert "There is no such judge." in browser.text
