"""No proposal is used without acceptance; decisions outlive names, quarantine lets nothing out by itself."""

from dataclasses import replace

import pytest

import coherently as co
from coherently.proposals import DecisionWord, RelationDecision, append_decisions, decision_about, read_decisions
from coherently.proposals.law_files import NOT_ACCEPTED, read_origins
from coherently.proposals.proposal import ProposalStatus, ProposedLaw, RelationName, Strength
from tests.proposals.test_rules import EVERY, distinct

LADDER = ["Cut by June 30, 2026", "Cut by December 31, 2026"]
GOLD = ["Gold above $2,000 on June 1, 2026", "Gold above $3,000 on June 1, 2026"]
ADDED = {
    "relation": "implies",
    "members": [LADDER[0], GOLD[0]],
    "counterexample": "Could rates be cut while gold stays low?",
    "source": "a model",
    "class": "certain",
    "status": "accepted",
}


def statements(text):
    """The laws of a file, without comments."""
    lines = (line.partition("  # ")[0] for line in text.splitlines() if not line.startswith("#"))
    return [line for line in lines if line]


def test_no_proposal_is_used_without_acceptance():
    found = co.relate(distinct(EVERY))
    assert {one.status for one in found.proposals} == {ProposalStatus.PROPOSED}
    assert found.laws() == []
    assert statements(found.laws_text()) == []
    again = co.Proposals.from_json(found.to_json())
    assert again.laws() == []


def test_accepting_what_is_certain_takes_nothing_else():
    found = co.relate(distinct(EVERY)).accept("certain", by="Ann")
    for one in found.proposals:
        assert (one.status is ProposalStatus.ACCEPTED) == (one.strength is Strength.CERTAIN)
        assert (one.accepted_by == "Ann") == (one.strength is Strength.CERTAIN)
    assert statements(found.laws_text()) == found.laws()
    used = {one.family for one in found.proposals if one.status is ProposalStatus.ACCEPTED}
    others = [one for one in found.proposals if one.family not in used]
    assert others
    for one in others:
        assert one.law not in found.laws()


@pytest.mark.parametrize("strength", ["likely", "ask", "all"])
def test_only_what_is_certain_is_accepted_together(strength):
    with pytest.raises(co.MethodError, match="only proposals of class certain"):
        co.relate(LADDER).accept(strength, by="Ann")


def test_what_is_written_can_be_read_as_laws(tmp_path):
    found = co.relate(distinct(EVERY)).accept("certain", by="Ann; the first")
    path = tmp_path / "x.laws"
    path.write_text(found.laws_text(), "utf-8")
    panel = co.Panel.from_records([("A", "p", 0.5)], laws=path)
    assert panel.laws.statements() == [
        *(law for law in found.laws() if law.startswith("variable")),
        *(law for law in found.laws() if not law.startswith("variable")),
    ]
    origins = read_origins(path)
    assert set(origins) == set(panel.laws.text)
    assert {one.accepted_by for one in origins.values()} == {"Ann, the first"}
    assert {one.strength for one in origins.values()} == {Strength.CERTAIN}


def test_a_quantity_is_declared_once_and_says_what_its_laws_say():
    found = co.relate([*GOLD, "Gold below $1,000 on June 1, 2026"]).accept("certain", by="Ann")
    laws = found.laws()
    assert laws[0] == "variable gold: number"
    panel = co.Panel.from_records([("A", f'"{GOLD[1]}"', 0.6), ("A", f'"{GOLD[0]}"', 0.4)], laws=laws)
    assert not co.check(panel).coherent
    by_hand = [one.law for one in found.proposals]
    for law in by_hand:
        with pytest.raises(co.ContradictionError):
            co.Panel.from_records([("A", "p", 0.5)], laws=[*laws, f"~({law})"])


CUTS = [
    {"id": "june", "text": "Rates cut by June 30, 2026", "group": "cuts"},
    {"id": "july", "text": "Rates cut before August 1, 2026", "group": "cuts"},
    {"id": "december", "text": "Rates cut by December 31, 2026", "group": "cuts"},
]


def test_a_date_is_declared_once_and_says_what_its_ladder_says():
    found = co.relate(CUTS)
    assert found.laws() == []
    laws = found.accept("certain", by="Ann").laws()
    name = laws[0].removeprefix("variable ").removesuffix(": date")
    assert laws == [
        f"variable {name}: date",
        f"june <-> {name} < 2026-07-01",
        f"july <-> {name} < 2026-08-01",
        f"december <-> {name} < 2027-01-01",
    ]
    for law in (one.law for one in found.proposals):
        with pytest.raises(co.ContradictionError):
            co.Panel.from_records([("A", "p", 0.5)], laws=[*laws, f"~({law})"])
    # It may also never happen, and nothing else is said of the order.
    panel = co.Panel.from_records([("A", "june", 0.2), ("A", "july", 0.3), ("A", "december", 0.6)], laws=laws)
    assert co.check(panel).coherent
    again = co.Proposals.from_dict(found.as_dict())
    assert again.quantities == found.quantities
    assert [one.kind for one in again.quantities] == ["date"]


def test_deadlines_that_are_not_certain_or_not_days_are_not_declared():
    assert not co.relate([row | {"group": None} for row in CUTS]).quantities
    vague = [
        row | {"text": row["text"].replace("June 30, 2026", "2026").replace("December 31, 2026", "2027")}
        for row in CUTS
    ]
    assert not co.relate([vague[0], vague[2]]).quantities
    denied = [row | {"text": f"Rates not {row['text'].removeprefix('Rates ')}"} for row in CUTS]
    assert not co.relate(denied).quantities


def accepted(found, number=0, **told):
    words = {"decision": "accept", "by": "Ann", "date": "2026-11-18", **told}
    return decision_about(found.proposals[number], found.questions, **words)


def test_decisions_outlive_the_names_of_rows_and_not_their_words(tmp_path):
    path = tmp_path / "decisions.jsonl"
    first = co.relate([{"id": f"old{i}", "text": text} for i, text in enumerate(LADDER)])
    append_decisions([accepted(first)], path)
    renamed = co.relate([{"id": f"new{i}", "text": text} for i, text in enumerate(LADDER)], decisions=path)
    assert renamed.laws() == ["new0 -> new1"]
    assert renamed.proposals[0].accepted_by == "Ann, 2026-11-18"
    other = co.relate([LADDER[0], "Cut by December 31, 2027"], decisions=path)
    assert other.laws() == []


def test_the_last_decision_counts_and_earlier_ones_stay_in_the_file(tmp_path):
    path, found = tmp_path / "decisions.jsonl", co.relate(LADDER)
    append_decisions([accepted(found)], path)
    append_decisions([accepted(found, decision="reject", reason="another bank")], path)
    assert [one.decision.value for one in read_decisions(path)] == ["accept", "reject"]
    decided = co.relate(LADDER, decisions=path)
    assert decided.laws() == []
    assert decided.proposals[0].status is ProposalStatus.REJECTED
    assert decided.undecided == ()


def test_an_edited_law_is_used_as_it_was_written():
    found = co.relate(LADDER)
    law = f'"{LADDER[0]}" <-> "{LADDER[1]}"'
    assert found.decided([accepted(found, law=law, reason="it is one")]).laws() == [law]


def test_a_question_becomes_a_law_only_with_a_reason():
    found = co.relate(["Cut by June 30", "Cut by December 31, 2026"])
    (one,) = found.proposals
    assert one.strength is Strength.ASK
    assert found.decided([accepted(found)]).laws() == []
    assert found.decided([accepted(found, reason="they are the same")]).laws() == [one.law]


def test_one_occasion_for_all_rows_takes_only_that_assumption_away():
    found = co.relate(["Profit above 3 million", "Profit above 2 million"])
    (one,) = found.decided([RelationDecision(DecisionWord.SAME_OCCASION, "Ann", "2026-11-18")]).proposals
    assert found.proposals[0].assumes
    assert one.assumes == ()
    assert one.strength is Strength.LIKELY
    assert one.status is ProposalStatus.PROPOSED


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"decision": "maybe", "by": "Ann", "date": ""}', '{"decision": "accept"}']
)
def test_a_line_that_is_no_decision_is_named(tmp_path, line):
    path = tmp_path / "decisions.jsonl"
    path.write_text(f"\n{line}\n", "utf-8")
    with pytest.raises(co.PanelError, match=r"decisions\.jsonl line 2 is not a decision.*accept, reject"):
        read_decisions(path)


def test_a_decision_needs_a_name(tmp_path):
    path = tmp_path / "decisions.jsonl"
    path.write_text('{"decision": "accept", "by": " ", "date": "2026-11-18"}\n', "utf-8")
    with pytest.raises(co.PanelError, match="does not say who decided"):
        read_decisions(path)


def test_what_others_propose_is_quarantined_whatever_it_claims():
    found = co.relate([*LADDER, *GOLD]).add([ADDED])
    added = found.proposals[-1]
    assert added.status is ProposalStatus.QUARANTINED
    assert added.law not in found.accept("certain", by="Ann").laws()
    number = len(found) - 1
    assert added.law not in found.decided([accepted(found, number)]).laws()
    assert added.law in found.decided([accepted(found, number, reason="impossible: the law of gold")]).laws()
    both = found.add([{**ADDED, "source": "Bob"}])
    assert added.law in both.decided([accepted(both, number)]).laws()
    same = found.add([ADDED])
    assert added.law not in same.decided([accepted(same, number)]).laws()


BROKEN = {
    "no counterexample": ({"counterexample": ""}, "has no counterexample"),
    "no source": ({"source": ""}, "has no source"),
    "the source of the rules": ({"source": "rules 1.0"}, "give your own"),
    "an unknown member": ({"members": [LADDER[0], "Rain"]}, "there is no question 'Rain'"),
    "one member": ({"members": [LADDER[0]]}, "two or more different names"),
    "an unknown relation": ({"relation": "causes"}, "relations are implies"),
    "words that are not there": ({"evidence": [{"row": GOLD[0], "words": "silver"}]}, "are not in the question"),
    "an impossible event": (
        {"relation": "excludes", "members": LADDER[::-1]},
        "makes 'Cut by June 30, 2026' impossible",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_others_propose_is_tried_first(case):
    change, said = BROKEN[case]
    found = co.relate([*LADDER, *GOLD])
    number = next(i for i, one in enumerate(found.proposals) if one.rule == "deadline ladder")
    found = found.decided([accepted(found, number)])
    with pytest.raises(co.PanelError, match=said):
        found.add([{**ADDED, **change}])


def test_accepted_laws_that_leave_no_choice_are_not_written():
    found = co.relate([*LADDER, *GOLD])
    ladder = ProposedLaw("x", RelationName.IMPLIES, ("a", "b"), Strength.LIKELY, id="r1", family="f")
    apart = replace(ladder, relation=RelationName.EXCLUDES, id="r2", family="g")
    both = tuple(replace(one, status=ProposalStatus.ACCEPTED, accepted_by="Ann") for one in (ladder, apart))
    with pytest.raises(
        co.ContradictionError, match=r"make 'a' impossible, or certain, by\n  r1: a -> b\n  r2: ~\(a & b\)"
    ):
        replace(found, proposals=both).laws_text()


def test_events_that_become_one_are_told():
    found = co.relate(LADDER)
    one = replace(found.proposals[0], status=ProposalStatus.ACCEPTED)
    back = replace(one, members=one.members[::-1], id="r2")
    (told,) = replace(found, proposals=(one, back)).consequences()
    assert "become one event, by r" in told
    assert "r1" in told
    assert "r2" in told


def test_proposals_that_contradict_each_other_become_questions():
    rows = [
        {"id": f"q{n}", "text": f"Launch before {year}", "group": "g", "exclusive": True}
        for n, year in enumerate((2027, 2028))
    ]
    found = co.relate(rows)
    assert {one.strength for one in found.proposals} == {Strength.ASK}
    assert found.conflicts[0].events == ("q0",)
    assert set(found.conflicts[0].proposals) == {one.id for one in found.proposals}
    assert found.accept("certain", by="Ann").laws() == []


def test_a_panel_says_who_contradicts_what_is_proposed_and_outcomes_withdraw_it():
    rows = [("Ann", f'"{LADDER[0]}"', 0.6), ("Ann", f'"{LADDER[1]}"', 0.5), ("Bob", f'"{LADDER[0]}"', 0.1)]
    rows += [("Bob", f'"{LADDER[1]}"', 0.2), ("Cid", f'"{LADDER[1]}"', 0.2)]
    panel = co.Panel.from_records(rows)
    found = co.relate(panel)
    gap = found.proposals[0].panel
    assert (gap.violated_by, gap.of, gap.mean_gap) == (1, 2, 0.05)
    resolved = co.Panel.from_records(rows, outcomes={f'"{LADDER[0]}"': True, f'"{LADDER[1]}"': False})
    decided = co.relate(LADDER)
    decided = decided.decided([accepted(decided)])
    assert decided.on_panel(panel).laws() == decided.laws() != []
    withdrawn = decided.on_panel(resolved)
    assert withdrawn.laws() == []
    assert any("withdrawn, because an outcome violates it" in note for note in withdrawn.notes)


def test_a_law_that_a_file_tells_otherwise_is_refused():
    found = co.relate(LADDER)
    values = found.as_dict()
    values["proposals"][0]["law"] = "true"
    with pytest.raises(co.PanelError, match="its relation and members say"):
        co.Proposals.from_dict(values)


def test_families_come_with_conflicts_first_then_gaps_then_size():
    rows = [
        {"id": f"q{n}", "text": f"Launch before {year}", "group": "g", "exclusive": True}
        for n, year in ((0, 2027), (1, 2028))
    ]
    panel = co.Panel.from_records([("A", f'"{GOLD[1]}"', 0.9), ("A", f'"{GOLD[0]}"', 0.1)])
    found = co.relate([*rows, *LADDER, *GOLD, *(f"Tin above ${n} on June 1, 2026" for n in (1, 2, 3))], panel=panel)
    rules = [[one.rule for one in family] for _, family in found.families()]
    assert {rules[0][0], rules[1][0]} == {"deadline ladder", "platform fields"}
    assert found.families()[2][1][0].panel.mean_gap == pytest.approx(0.8)
    assert len(found.families()[3][1][0].members) == 3


NOTED = [{"text": "Cut by June 30, 2026", "colour": "red"}]


def test_unknown_columns_and_repeated_rows_are_noted():
    assert co.relate(NOTED * 2).notes == (
        "1 row repeated a question and was read once",
        "columns that relate does not know, ignored: colour",
    )


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"id": "", "text": ""}], "question 1 has neither a text nor an id"),
        ([{"id": "a", "text": "x"}, {"id": "a", "text": "y"}], "two questions have the name 'a'"),
        ([{"id": "a", "text": "x", "exclusive": "maybe"}], "exclusive is 'maybe'; it must be true, false or blank"),
        ([{"id": "a", "text": "x", "strike": "12"}, 3], "question 2 is neither a text nor a mapping"),
        ([{"id": "a", "text": "x", "strike": "{"}], "it must be a JSON object"),
    ],
)
def test_bad_rows_are_named(rows, said):
    with pytest.raises(co.PanelError, match=said):
        co.relate(rows)


def test_a_file_of_laws_begins_its_comments_where_nothing_is_accepted():
    assert NOT_ACCEPTED in co.relate(LADDER).laws_text()


def test_more_scopes_can_be_given():
    texts = ["Will Ann win the 2026 Race?", "Will Ann enter the 2026 Race?"]
    assert [one.rule for one in co.relate(texts).proposals if one.strength is not Strength.ASK] == []
    assert co.relate(texts, scopes=[("win", "enter")]).proposals[0].members == tuple(texts)
