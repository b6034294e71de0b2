"""Relations that the words of questions suggest, over REST: offered, decided, kept, and used only when accepted."""

import pytest

from coherently.proposals import read_origins
from coherently.web.store.archives.archive_files import unpack
from tests.web.api.service import refused

QUESTIONS = {
    "june": "Launch by June 30, 2027",
    "december": "Launch by December 31, 2027",
    "late": "Norvik is late",
    "teba": "Teba is late",
    "both": "Norvik is late and Teba is late",
}


class Related:
    """A panel with questions whose words are related, and a judge."""

    def __init__(self, service, questions=QUESTIONS):
        self.service, self.api = service, service.facilitator()
        self.panel = self.api.post("/panels", json={"title": "Launch"}).json()["id"]
        self.path = f"/panels/{self.panel}"
        self.events = {name: self.ask(name, title) for name, title in questions.items()}

    def ask(self, name, title):
        draft = {"kind": "yes-no", "title": title, "events": [{"event": name, "title": ""}]}
        return self.api.post(f"{self.path}/questions", json=draft).json()["events"][0]["id"]

    def list(self):
        return self.api.get(f"{self.path}/relations").json()

    def family(self, law):
        return next(each for each in self.list()["families"] if law in [one["law"] for one in each["relations"]])

    def decide(self, proposed, decision="accept", **more):
        draft = {"decision": decision, "family": self.family(proposed)["family"], "by": "Ann Lee", **more}
        return self.api.post(f"{self.path}/relations", json=draft)

    def laws(self):
        return [each["statement"] for each in self.api.get(f"{self.path}/laws").json()["laws"]]


@pytest.fixture
def related(service):
    return Related(service)


def test_nothing_is_used_until_somebody_accepts_it(related):
    assert {each["state"] for each in related.list()["families"]} == {"waiting"}
    assert related.laws() == []
    client, _ = related.service.judge(related.api, related.panel, "Bob")
    answers = [{"event": related.events[name], "probability": p} for name, p in (("june", 0.8), ("december", 0.2))]
    told = client.post("/sheet/answers", json={"answers": answers}).json()["feedback"]
    assert told["contradictions"] == []
    assert related.api.get(f"{related.path}/export.json").status_code in (404, 409)
    made = related.decide("june -> december").json()
    assert [(law["statement"], law["title"]) for law in made["added"]] == [
        ("june -> december", "If “Launch by June 30, 2027” comes true, so does “Launch by December 31, 2027”.")
    ]
    assert related.laws() == ["june -> december"]
    told = client.get("/sheet").json()["feedback"]
    assert len(told["contradictions"]) == 1


def test_a_decision_is_kept_with_name_date_and_reason_and_the_law_says_so(related):
    related.decide("june -> december", reason="Both windows open today.")
    (law,) = related.api.get(f"{related.path}/laws").json()["laws"]
    today = law["time"][:10]
    assert law["origin"].startswith(f"likely: deadline ladder; accepted by Ann Lee, {today}; words ")
    (decision,) = related.list()["decisions"]
    assert (decision["decision"], decision["by"], decision["reason"]) == (
        "accept",
        "Ann Lee",
        "Both windows open today.",
    )
    assert decision["words"] == ["launch by june 30, 2027", "launch by december 31, 2027"]
    assert decision["time"][:10] == today
    assert related.family("june -> december")["relations"][0]["accepted_by"] == f"Ann Lee, {today}"


def test_an_archive_takes_decisions_along_and_its_laws_file_names_who_accepted(related, tmp_path):
    related.decide("june -> december")
    archive = related.api.get(f"{related.path}/archive").content
    laws = tmp_path / "laws.txt"
    laws.write_bytes(unpack(archive)["laws.txt"])
    assert "accepted by Ann Lee" in str(read_origins(laws)["june -> december"])
    again = related.api.post("/panels/import", content=archive, headers={"Content-Type": "application/zip"}).json()[
        "id"
    ]
    told = related.api.get(f"/panels/{again}/relations").json()
    assert [each["by"] for each in told["decisions"]] == ["Ann Lee"]


def test_the_formula_of_a_compound_stands_for_what_follows_from_it(related):
    family = related.family("both <-> late & teba")
    assert family["sentences"] == ["“Norvik is late and Teba is late” means “Norvik is late” and “Teba is late”."]
    assert len(family["relations"]) == 3
    made = related.decide("both <-> late & teba").json()
    assert (made["decisions"], [law["statement"] for law in made["added"]]) == (3, ["both <-> late & teba"])


def test_what_is_rejected_after_it_was_accepted_is_a_law_no_longer(related):
    (added,) = related.decide("june -> december").json()["added"]
    made = related.decide("june -> december", "reject", reason="The second opens later.").json()
    assert made == {"decisions": 1, "added": [], "dropped": [added["id"]]}
    assert related.laws() == []
    assert related.decide("june -> december").json()["added"][0]["statement"] == "june -> december"


def test_a_law_that_a_person_dropped_is_not_offered_again_and_can_be_accepted_again(related):
    (added,) = related.decide("june -> december").json()["added"]
    related.api.delete(f"{related.path}/laws/{added['id']}")
    family = related.family("june -> december")
    assert (family["state"], family["relations"][0]["status"]) == ("decided", "withdrawn")
    assert len(related.decide("june -> december").json()["added"]) == 1


def test_what_holds_anyway_is_not_offered(related):
    related.api.post(f"{related.path}/laws", json={"statement": "june -> december"})
    laws = [one["law"] for each in related.list()["families"] for one in each["relations"]]
    assert "june -> december" not in laws
    assert "both -> late" in laws


def test_another_law_can_be_accepted_instead(related):
    refused(related.decide("june -> december", law="june ->"), 422, "column 8")
    refused(related.decide("june -> december", "reject", law="june -> late"), 422)
    assert related.list()["decisions"] == []
    related.decide("june -> december", law="june -> december | late")
    assert related.laws() == ["june -> december | late"]


def test_a_law_that_contradicts_the_others_is_refused_and_nothing_is_kept(related):
    related.api.post(f"{related.path}/laws", json={"statement": "june & ~december"})
    refused(related.decide("june -> december"), 422, "contradict")
    assert related.list()["decisions"] == []


def test_a_mere_question_needs_a_reason(service):
    asked = Related(service, {"a": "Will the bridge in Oslo be closed", "b": "Will the bridge in Oslo be closed soon"})
    families = asked.list()["families"]
    assert [each["state"] for each in families] == ["ask"]
    law = families[0]["relations"][0]["law"]
    refused(asked.decide(law), 422, "only a question")
    assert asked.laws() == []
    asked.decide(law, reason="The texts mean the same.")
    assert asked.laws() == [law]


def test_a_family_that_changed_meanwhile_is_not_decided(related):
    old = related.family("june -> december")["family"]
    related.ask("september", "Launch by September 30, 2027")
    draft = {"decision": "accept", "family": old, "by": "Ann"}
    refused(related.api.post(f"{related.path}/relations", json=draft), 409, "changed")


def test_one_occasion_is_said_once_for_all_rows(service):
    rows = {"a": "Profit above 3 million", "b": "Profit above 2 million"}
    asked = Related(service, rows)
    before = asked.list()
    assert before["same_occasion"]
    asked.api.post(f"{asked.path}/relations", json={"decision": "same occasion", "by": "Ann"})
    after = asked.list()
    assert not after["same_occasion"]
    assert asked.laws() == []
    assert [each["decision"] for each in after["decisions"]] == ["same occasion"]
    assumed = [one["assumes"] for each in after["families"] for one in each["relations"]]
    assert all("same occasion" not in what for each in assumed for what in each)


def test_what_judges_think_of_a_relation_is_shown_once_the_round_is_closed(related):
    client, _ = related.service.judge(related.api, related.panel, "Bob")
    answers = [{"event": related.events[name], "probability": p} for name, p in (("june", 0.8), ("december", 0.2))]
    client.post("/sheet/answers", json={"answers": answers})
    assert related.family("june -> december")["relations"][0]["violated_by"] is None
    related.api.post(f"{related.path}/rounds", json={"phase": "closed"})
    one = related.family("june -> december")["relations"][0]
    assert (one["violated_by"], one["judges"]) == (1, 1)


def test_relations_of_another_account_are_not_there(related):
    other = related.service.facilitator()
    refused(other.get(f"{related.path}/relations"), 404)
    refused(other.post(f"{related.path}/relations", json={"decision": "same occasion"}), 404)


def test_a_request_with_a_key_decides_once(related):
    draft = {"decision": "accept", "family": related.family("june -> december")["family"], "by": "Ann"}
    key = {"Idempotency-Key": "decide-1"}
    first = related.api.post(f"{related.path}/relations", json=draft, headers=key)
    assert first.status_code == 201
    assert len(related.list()["decisions"]) == 1
