"""A panel goes into one file and comes back whole; what is not whole is refused."""

import io
import json
import zipfile

import pytest

from coherently.errors import PanelError
from coherently.web.store import AnswerGiven, ArchiveError, NotFoundError, StoreError, open_store
from coherently.web.store.archives import archive_files
from coherently.web.store.archives.archive_files import MANIFEST, pack, unpack
from coherently.web.store.identifiers import after

ODD = "=cmd()|' '!A1 \"quoted\", 'x'\r\nnext\rline\n😀"


@pytest.fixture
def full(store, panel):
    return fill(store, panel)


@pytest.fixture(scope="module")
def scratch():
    """A store for what is the same on every database, with a full panel."""
    with open_store("sqlite://") as store:
        fill(store, store.panels.create(store.accounts.local().id, "Full"))
        yield store


@pytest.fixture(scope="module")
def parts(scratch):
    """The parts of an archive of a full panel."""
    return unpack(scratch.archive.export(scratch.panels.list()[0].id))


def fill(store, panel):
    """Something of every kind."""
    store.panels.edit(panel.id, title=ODD, description="d", settings={"a": [1, None, ODD]})
    ladder = [("due < 2027-01-01", "by 2027"), ("due < 2028-01-01", "by 2028")]
    questions = [
        store.questions.add(panel.id, "yes-no", ODD, [("recession", ODD)], "definition", "Group"),
        store.questions.add(panel.id, "ladder", "When?", ladder, declaration="variable due: date"),
        store.questions.add(panel.id, "yes-no", "Gone?", [("gone", "gone")]),
    ]
    events = [event.id for question in questions for event in question.events]
    ann, bob = store.judges.invite(panel.id, "Ann")[0].id, store.judges.add(panel.id, "=Bob()").id
    store.judges.opened(ann)
    store.laws.drop(store.laws.add(panel.id, "a -> b", ODD).id)
    store.laws.add(panel.id, "P(recession) <= 0.9")
    store.forecasts.record(ann, [AnswerGiven(events[0], 0.1 + 0.2, locked=True, reason=ODD), AnswerGiven(events[1])])
    store.forecasts.record(bob, [AnswerGiven(events[0], 1e-300, reason="'"), AnswerGiven(events[3], 1.0)])
    store.meant.say(ann, "k", "sentence")
    store.meant.say(ann, "k", "sentence", ODD)
    store.comments.add(panel.id, ODD, ann, questions[1].id)
    store.comments.withdraw(store.comments.add(panel.id, "oops").id)
    store.comments.hide(store.comments.add(panel.id, "No.", bob, questions[0].id, ann).id)
    store.reactions.add(questions[0].id, ann, bob)
    store.reactions.add(questions[0].id, bob)
    store.reactions.take_back(questions[0].id, bob)
    about = {"rule": "ladder", "relation": "implies", "words": ["a", ODD], "source": "rules 1.0"}
    store.decisions.record(panel.id, "accept", about, decided_by=ODD, reason="r", law="a -> b")
    store.laws.add(panel.id, "c -> d", "words", "likely: ladder; accepted by Ann, 2026-11-18")
    store.drawn.keep(ann, questions[1].id, {"way": "quantiles", "knots": [["2026-06-30", 0.1], ["2027-06-30", 0.5]]})
    store.drawn.keep(ann, questions[1].id, {})
    store.judges.hand_in(ann)
    store.rounds.advance(panel.id, "revision", after(3600), hide_numbers=False)
    store.forecasts.record(ann, [AnswerGiven(events[0], withdrawn=True)])
    store.questions.withdraw(questions[2].id)
    store.judges.revoke(bob)
    for text, value in [("recession", True), ("due", "2026-12-01"), ("rate", 2.5), ("recession", None)]:
        store.outcomes.record(panel.id, text, value, "note")
    for number in range(4):
        store.aggregations.request(panel.id, {"method": "auto"}, {"seconds": 5}, f"n{number}", {"rows": [ODD, 0.5]})
    first = store.aggregations.claim("w", 60).id
    store.aggregations.finish(first, "w", {"probability": [0.1, None]}, {"status": "optimal"})
    second = store.aggregations.claim("w", 60).id
    store.aggregations.fail(second, "w", "no memory")
    third = store.aggregations.claim("w", 60).id
    store.aggregations.cancel(third)
    store.aggregations.stopped(third, "w")
    return panel.id


def without_ids(value):
    """Records as plain values, without what an import gives anew."""
    if isinstance(value, tuple | list):
        return [without_ids(each) for each in value]
    named = (
        "id",
        "panel",
        "judge",
        "question",
        "event",
        "has_link",
        "worker",
        "lease_until",
        "owner",
        "about",
        "author",
    )
    return {name: each for name, each in value.as_dict().items() if name not in named and name != "events"}


def all_of(store, panel):
    return {
        "panel": without_ids(store.panels.get(panel)),
        "questions": without_ids(store.questions.list(panel, withdrawn=True)),
        "laws": without_ids(store.laws.list(panel, dropped=True)),
        "judges": without_ids(store.judges.list(panel)),
        "rounds": without_ids(store.rounds.list(panel)),
        "hand_ins": without_ids(store.judges.hand_ins(panel)),
        "forecasts": without_ids(store.forecasts.history(panel)),
        "latest": without_ids(store.forecasts.latest(panel)),
        "comments": without_ids(store.comments.list(panel, withdrawn=True)),
        "meant": without_ids(store.meant.list(panel, taken_back=True)),
        "reactions": without_ids(store.reactions.list(panel, taken_back=True)),
        "decisions": [(without_ids(each), each.about) for each in store.decisions.list(panel)],
        "drawn": without_ids(store.drawn.history(panel)),
        "outcomes": without_ids(store.outcomes.history(panel)),
        "aggregations": [
            (without_ids(each), store.aggregations.inputs(each.id))
            for each in store.aggregations.list(panel)
            if each.status != "queued"
        ],
    }


def test_a_panel_comes_back_equal(store, full):
    archive = store.archive.export(full)
    again = store.archive.import_panel(archive, store.accounts.local().id)
    assert all_of(store, again.id) == all_of(store, full)
    assert store.archive.export(again.id) == archive
    first = store.aggregations.list(again.id)[0]
    assert store.aggregations.result(first.id) == {"probability": [0.1, None]}
    assert store.changes.after(again.id, 0)[-1].kind == "panel"
    assert not any(judge.has_link for judge in store.judges.list(again.id))
    # It goes on like any other panel.
    ann = store.judges.by_name(again.id, "Ann").id
    event = store.questions.list(again.id)[0].events[0].id
    store.forecasts.record(ann, [AnswerGiven(event, 0.7)])
    assert store.forecasts.latest(again.id)[-1].probability == 0.7
    assert store.aggregations.request(again.id).version == 4


def test_an_archive_goes_from_one_database_to_another(store, full):
    archive = store.archive.export(full)
    with open_store("sqlite://") as other:
        moved = other.archive.import_panel(archive, other.accounts.create("Zoe").id)
        assert other.archive.export(moved.id) == archive


def test_an_empty_panel_comes_back(store, panel):
    archive = store.archive.export(panel.id)
    assert store.archive.export(store.archive.import_panel(archive, panel.owner).id) == archive
    with pytest.raises(NotFoundError):
        store.archive.export("p_nothing")
    with pytest.raises(NotFoundError):
        store.archive.import_panel(archive, "u_nobody")


def test_an_archive_has_no_ids_and_no_formulas(store, full):
    archive = store.archive.export(full)
    parts = unpack(archive)
    known = [full, *(judge.id for judge in store.judges.list(full)), store.accounts.local().id]
    known += [event.id for question in store.questions.list(full, withdrawn=True) for event in question.events]
    assert not any(name.encode() in data for name in known for data in parts.values())
    cells = [cell for line in parts["forecasts.csv"].decode().split("\r\n") for cell in line.split(",")]
    assert not any(cell.lstrip('"').startswith(("=", "+", "@")) for cell in cells)
    assert parts["laws.txt"] == (
        b"variable due: date\nP(recession) <= 0.9\nc -> d  # likely: ladder; accepted by Ann, 2026-11-18\n"
    )


def refuse(store, data, match):
    before = store.panels.list()
    with pytest.raises(ArchiveError, match=match):
        store.archive.import_panel(data, store.accounts.local().id)
    assert store.panels.list() == before


def test_damage_is_refused_wherever_it_is(scratch, parts):
    archive = pack(parts)
    for data in (b"", b"PK", b"hello", archive[:-1], archive[: len(archive) // 2], archive[100:]):
        refuse(scratch, data, "damaged")
    for place in range(30, len(archive), 97):
        broken = bytearray(archive)
        broken[place] ^= 0xFF
        try:
            same = unpack(bytes(broken)) == unpack(archive)
        except ArchiveError:
            continue
        assert same, place  # a time stamp or the like of the zip itself


def test_parts_that_do_not_belong_or_lack_are_refused(scratch, parts):
    for name in ("../evil.json", "/etc/passwd", "results/../x.json", "forecasts.csv.exe"):
        refuse(scratch, pack({**parts, name: b"{}"}), "does not belong")
    for name in ("panel.json", "forecasts.csv", "results/1.json"):
        refuse(scratch, pack({key: part for key, part in parts.items() if key != name}), f"no {name}")
    swapped = io.BytesIO()
    with zipfile.ZipFile(swapped, "w") as target, zipfile.ZipFile(io.BytesIO(pack(parts))) as source:
        for name in source.namelist():
            target.writestr(name, b"{}" if name == "panel.json" else source.read(name))
    refuse(scratch, swapped.getvalue(), "not whole, or was changed")
    refuse(scratch, pack({}), "no panel.json")


def test_bombs_are_refused_before_they_are_unpacked(scratch, monkeypatch):
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("panel.json", "w") as part:
        for _ in range(300):
            part.write(bytes(2**20))
    assert len(bomb.getvalue()) < 2**20
    refuse(scratch, bomb.getvalue(), "256 MB are allowed")
    monkeypatch.setattr(archive_files, "MOST_PARTS", 3)
    refuse(scratch, pack({"panel.json": b"{}", "inputs/1.json": b"", "inputs/2.json": b""}), "3 files")
    lying = bytearray(pack({"panel.json": b" " * 1000}))
    size = (1000).to_bytes(4, "little")
    while size in lying:
        place = lying.index(size)
        lying[place : place + 4] = (10).to_bytes(4, "little")
    refuse(scratch, bytes(lying), "damaged")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_twice_the_same_part_is_refused(scratch):
    twice = io.BytesIO()
    with zipfile.ZipFile(twice, "w") as archive:
        archive.writestr(MANIFEST, b"{}")
        archive.writestr(MANIFEST, b"{}")
    refuse(scratch, twice.getvalue(), "twice")


def test_other_versions_and_formats_are_refused(scratch, monkeypatch):
    monkeypatch.setattr(archive_files, "VERSION", 2)
    newer = pack({})
    monkeypatch.undo()
    refuse(scratch, newer, "version 2")
    plain = io.BytesIO()
    with zipfile.ZipFile(plain, "w") as archive:
        archive.writestr(MANIFEST, json.dumps({"format": "something else", "files": {}}))
    refuse(scratch, plain.getvalue(), "not an archive of a panel")


def edited(parts, change):
    value = json.loads(parts["panel.json"])
    change(value)
    return pack({**parts, "panel.json": json.dumps(value).encode()})


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda all_: all_.pop("laws"), "'laws' in panel.json"),
        (lambda all_: all_.update(rounds=[]), "no rounds"),
        (lambda all_: all_["panel"].update(title=5), "'title' in panel .* a text"),
        (lambda all_: all_["questions"].append(7), r"questions\[3\] .* not an object"),
        (lambda all_: all_["questions"][0].update(kind="maybe"), "one of conditional"),
        (lambda all_: all_["questions"][0].update(number=2), "same name or number"),
        (lambda all_: all_["judges"][0].update(name="=Bob()"), "forecasts.csv|same name"),
        (lambda all_: all_["rounds"][0].update(hide_numbers=1), "true or false"),
        (lambda all_: all_["rounds"][0].update(number=True), "whole number"),
        (lambda all_: all_["rounds"][0].update(number=2**40), "between"),
        (lambda all_: all_["rounds"][0].update(since="now"), "a time"),
        (lambda all_: all_["meant"][0].update(judge=3), "between 1 and 2"),
        (lambda all_: all_["comments"][0].update(question=0), "between 1 and 3"),
        (lambda all_: all_["outcomes"][0].update(outcome=[1]), "a number, a text or null"),
        (lambda all_: all_["aggregations"][0].update(progress=2), "between 0 and 1"),
        (lambda all_: all_["aggregations"][0].update(status="running"), "one of cancelled"),
        (lambda all_: all_["aggregations"][0].update(summary=[]), "an object"),
        (lambda all_: all_["aggregations"][1].update(version=1), "same name or number"),
    ],
)
def test_contents_are_checked_even_if_checksums_fit(scratch, parts, change, match):
    refuse(scratch, edited(parts, change), match)


@pytest.mark.parametrize(
    "row",
    [
        "Ann,recession,1.5,1,given,no,,1,2026-11-17T09:30:00.000Z",
        "Ann,recession,nan,1,given,no,,1,2026-11-17T09:30:00.000Z",
        "Ann,recession,,1,given,no,,1,2026-11-17T09:30:00.000Z",
        "Ann,recession,0.5,1,abstained,no,,1,2026-11-17T09:30:00.000Z",
        "Ann,recession,0.5,1,guessed,no,,1,2026-11-17T09:30:00.000Z",
        "Zoe,recession,0.5,1,given,no,,1,2026-11-17T09:30:00.000Z",
        "Ann,recession,0.5,0,given,no,,1,2026-11-17T09:30:00.000Z",
        "Ann,recession,0.5,99,given,no,,1,2026-11-17T09:30:00.000Z",
        "Ann,recession,0.5,1,given,maybe,,1,2026-11-17T09:30:00.000Z",
        "Ann,recession,0.5,1,given,no,,1,yesterday",
        "Ann,recession,0.5",
    ],
)
def test_rows_are_checked_even_if_checksums_fit(scratch, parts, row):
    broken = pack({**parts, "forecasts.csv": parts["forecasts.csv"] + row.encode() + b"\r\n"})
    refuse(scratch, broken, "row 7 of forecasts")


def test_nested_json_and_numbers_that_are_none_are_refused(scratch, parts):
    for text in (b"[" * 100_000, b"\xff", b'{"panel": NaN}', b"[]"):
        refuse(scratch, pack({**parts, "panel.json": text}), "panel.json")


def test_a_file_of_forecasts(store, panel):
    asked = store.questions.add(panel.id, "yes-no", "Both?", [("b & a", "both")]).events[0].id
    ann = store.judges.invite(panel.id, "Ann")[0].id
    data = (
        b"judge,event,probability,outcome\nAnn,a,0.5,1\nAnn,a & b,30%,\nBob,a,0.25,1\nBob,c given a,0.1,\nAnn,a,0.6,1\n"
    )
    done = store.archive.import_table(panel.id, data, "Panel 1.csv")
    assert (done.judges, done.questions, done.forecasts) == (1, 2, 5)
    assert any(
        "repeat" in note.lower() or "twice" in note.lower() or "several" in note.lower() for note in done.notes
    ), done
    kinds = {question.events[0].event: question.kind for question in store.questions.list(panel.id)}
    assert kinds == {"b & a": "yes-no", "a": "yes-no", "c given a": "conditional"}
    texts = {event.id: event.event for question in store.questions.list(panel.id) for event in question.events}
    names = {judge.id: judge.name for judge in store.judges.list(panel.id)}
    latest = {(names[each.judge], texts[each.event]): each.probability for each in store.forecasts.latest(panel.id)}
    assert latest == {("Ann", "b & a"): 0.3, ("Bob", "a"): 0.25, ("Bob", "c given a"): 0.1, ("Ann", "a"): 0.6}
    assert {each.event for each in store.forecasts.latest(panel.id, judge=ann)} >= {asked}
    assert [(each.event, each.outcome) for each in store.outcomes.latest(panel.id)] == [("a", True)]
    assert store.archive.import_table(panel.id, b"event,Ann,Cid\na,0.1,0.2\n", "wide.csv").questions == 0


def test_a_file_is_read_with_the_laws_of_the_panel(store, panel):
    ladder = [("due < 2027-01-01", "by 2027")]
    store.questions.add(panel.id, "ladder", "When?", ladder, declaration="variable due: date")
    store.laws.add(panel.id, "variable winner: Ann, Bob")
    data = b"judge,event,probability\nZoe,due < 2027-01-01,0.5\nZoe,winner = Ann,0.5\n"
    assert store.archive.import_table(panel.id, data, "x.csv").questions == 1


def test_plain_names_and_times(store, panel):
    name = '"Rain, or ""snow""?"'
    data = f"judge,event,probability,time\nAnn,{name},0.9,2026-02-01\nAnn,{name},0.1,2026-01-01\n".encode()
    store.archive.import_table(panel.id, data, "x.csv", plain_events=True)
    (question,) = store.questions.list(panel.id)
    assert (question.title, question.events[0].event) == ('Rain, or "snow"?', '"Rain, or \\"snow\\"?"')
    assert [each.probability for each in store.forecasts.latest(panel.id)] == [0.9]


@pytest.mark.parametrize(
    ("data", "name", "kind", "match"),
    [
        (b"judge,event,probability\nAnn,a &,0.5\n", "p.csv", PanelError, "p.csv row 2.*column 4"),
        (b"judge,event,probability\nAnn,a,1.5\n", "../../p.csv", PanelError, "p.csv row 2"),
        (b"judge,event,probability,lower,upper\nAnn,a,0.5,0.4,0.6\n", "p.csv", StoreError, "intervals"),
        (b"event,bid,ask\na,0.5,0.6\n", "p.csv", StoreError, "quotes"),
        (b"\x1f\x8b", "p.csv.gz", StoreError, "unpack"),
        (b"PAR1", "p.parquet", StoreError, "save it as CSV"),
        (b"x", "", PanelError, "panel.csv has a header but no rows"),
        (b"", "p.csv", PanelError, "p.csv"),
    ],
)
def test_files_that_cannot_be_read_leave_nothing(store, panel, data, name, kind, match):
    before = store.changes.last()
    with pytest.raises(kind, match=match):
        store.archive.import_table(panel.id, data, name)
    assert store.changes.last() == before
