"""How a table was read is said: roles, what is left out and why, questions where nothing decides."""

import io
import math
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import coherently as co
from coherently.panel.worksheets import ReadingChoices, UnclearTableError, count_columns, look_at_table
from coherently.panel.worksheets.plain_look import is_plain_text
from tests.panel.worksheets.spreadsheets import cells, long_rows, text, workbook


def read(tmp_path, content, name="t.csv", **options):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return co.read_panel(tmp_path / name, **options)


def asked(tmp_path, content, **options):
    with pytest.raises(co.PanelError) as raised:
        read(tmp_path, content, **options)
    return str(raised.value)


def test_every_guess_is_a_note_with_the_way_to_change_it(tmp_path):
    rows = cells(("Risk", "Ann", "Bob", "Cid"), above=[["Workshop"]], column=(4, "Median", [0.3, 0.5, 0.3]))
    panel = read(tmp_path, text(rows, ";"))
    assert panel.notes[:4] == (
        "t.csv: read as text, separated by semicolons, header in row 2",
        "t.csv: Risk as the events (--columns ROLE=NAME,... changes that)",
        "t.csv: columns left out: Median (the median of the others, by its name)",
        "t.csv: row 1 (Workshop) not read: above the header",
    )
    kept = read(tmp_path, text(rows, ";"), columns={"judge": "Median"})
    assert kept.judges == ("Ann", "Bob", "Cid", "Median")


def test_columns_are_given_roles(tmp_path):
    table = "a,b,c,d\nfire,Ann,0.2,x\nflood,Bob,0.3,y\n"
    message = asked(tmp_path, table)
    assert "--columns event=a" in message
    panel = read(tmp_path, table, columns={"event": "a", "judge": "b", "probability": "c", "comment": "d"})
    assert (panel.judges, panel.written.text[:], panel.probability.tolist()) == (
        ("Ann", "Bob"),
        ("fire", "flood"),
        [0.2, 0.3],
    )
    assert [(each.judge, each.event, each.text) for each in panel.reading.reasons] == [
        ("Ann", "fire", "x"),
        ("Bob", "flood", "y"),
    ]
    assert "has no column 'z'" in asked(tmp_path, table, columns={"event": "z"})
    assert "unknown role 'boss'" in asked(tmp_path, table, columns={"boss": "a"})


def test_roles_are_given_to_frames_and_records_too():
    import pandas as pd

    frame = pd.DataFrame({"q": ["fire", "flood"], "who": ["Ann", "Bob"], "p_yes": [0.2, 0.3]})
    roles = {"event": "q", "judge": "who", "probability": "p_yes"}
    for panel in (
        co.Panel.from_frame(frame, columns=roles),
        co.Panel.from_records(frame.to_dict("records"), columns=roles),
    ):
        assert (panel.judges, panel.probability.tolist()) == (("Ann", "Bob"), [0.2, 0.3])


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("Name,Fire,Flood\nAnn,0.2,0.3\n", "--columns event=Name or --columns judge=Name"),
        ("Risk,Low,High,Ann,Bob\nfire,0.1,0.3,0.2,0.25\nflood,0.2,0.4,0.3,0.35\n", "lower=Low,upper=High"),
        ("market,odds\nfire,150\nflood,200\n", "decimal (2.5), fractional (3/2) or American"),
        ("event,chance,likelihood\nfire,0.2,0.3\n", "--columns probability=chance or --columns probability=likelihood"),
        ("Risk,Ann,,Bob\nfire,0.2,0.3,0.4\n", "column 3 has no name"),
    ],
)
def test_what_cannot_be_decided_is_asked(tmp_path, table, words):
    assert words in asked(tmp_path, table)


@pytest.mark.parametrize("header", ["bid,ask", "low,high", "min,max", "yes_bid,yes_ask", "Best Bid,Best Ask"])
def test_quotes_are_no_judges(tmp_path, header):
    panel = read(tmp_path, f"market,{header}\nA wins,0.4,0.5\nB wins,0.3,0.45\n")
    assert (panel.judges, panel.lower.tolist(), panel.upper.tolist()) == (("panel",), [0.4, 0.3], [0.5, 0.45])


@pytest.mark.parametrize(
    ("odds", "shares"),
    [
        (["4/1", "evens", "1/3"], [0.2, 0.5, 0.75]),
        (["+400", "-150", "+100"], [0.2, 0.6, 0.5]),
        (["5.0", "1,25", "2"], [0.2, 0.8, 0.5]),
    ],
)
def test_odds_are_probabilities(tmp_path, odds, shares):
    rows = "".join(f"m{i};{each}\n" for i, each in enumerate(odds))
    panel = read(tmp_path, f"market;odds\n{rows}")
    assert panel.probability.tolist() == pytest.approx(shares)
    assert any("odds, each a probability" in note and "margin" in note for note in panel.notes)


def test_fees_count_and_sizes_are_kept(tmp_path):
    panel = read(tmp_path, "event,bid,ask,fee,ask_size\np,0.4,0.5,0.02,7\n")
    assert (panel.lower.tolist(), panel.upper.tolist()) == (pytest.approx([0.38]), pytest.approx([0.52]))
    assert [(each.column, each.text) for each in panel.reading.kept] == [("ask_size", "7")]


def test_an_outcome_beside_the_judges_resolves_events(tmp_path):
    panel = read(tmp_path, "Risk,Ann,Bob,Eingetreten\nfire,0.2,0.3,1\nflood,0.4,0.5,0\n")
    assert panel.judges == ("Ann", "Bob")
    assert panel.written.outcome.tolist() == [1, 0]


def test_somebody_who_happens_to_agree_stays_a_judge(tmp_path):
    panel = read(tmp_path, "Risk,Ann,Bob,Cid\na,0.1,0.2,0.3\nb,0.2,0.3,0.4\nc,0.5,0.6,0.7\n")
    assert panel.judges == ("Ann", "Bob", "Cid")
    panel = read(tmp_path, "Risk,Ann,Max\na,0.1,0.2\nb,0.2,0.3\n")
    assert panel.judges == ("Ann", "Max")


def test_open_files_pipes_and_packed_files(tmp_path):
    table = text(cells(("Risk", "Ann", "Bob", "Cid")))
    wanted = read(tmp_path, table)
    for source in (io.StringIO(table), io.BytesIO(table.encode()), (tmp_path / "t.csv").open("rb")):
        panel = co.read_panel(source)
        assert panel.probability.tolist() == wanted.probability.tolist()
        source.close()
    with pytest.raises(co.PanelError, match=r"list is not a source"):
        co.read_panel([1])


def test_labels_are_a_frame_a_mapping_or_a_file(tmp_path):
    import pandas as pd

    table = "event,Ann\nr1,0.2\nr2,0.3\nSupplier delay and Budget overrun,0.1\n"
    titles = {"r1": "Supplier delay", "r2": "Budget overrun"}
    frame = pd.DataFrame({"id": list(titles), "title": list(titles.values())})
    frame.to_csv(tmp_path / "labels.csv", index=False)
    for labels in (titles, frame, tmp_path / "labels.csv"):
        panel = read(tmp_path, table, labels=labels)
        assert panel.written.text[:] == ("r1", "r2", "r1 & r2")
        assert panel.labels["r1"] == "Supplier delay"


def test_a_plain_table_is_read_as_before(tmp_path):
    for header, rows in (("judge,event,probability", "Ann,p,0.5\n"), ("event,Ann,Bob", "p & q,0.5,NA\n")):
        assert is_plain_text(f"{header}\n{rows}".encode(), whole=True, separator=None, percent=False)
        assert not read(tmp_path, f"{header}\n{rows}").reading.careful


def test_a_look_is_bounded():
    head = b"judge,event,probability\n" + b"Ann,p,0.5\n" * 20_000
    cut = head[: 1 << 17]
    assert is_plain_text(cut, whole=False, separator=None, percent=False)


def test_a_sheet_is_named(tmp_path):
    book = workbook(("A", cells()), ("B", cells(("Risk", "Xi", "Yan", "Zoe"))))
    assert "Which one should be read?" in asked(tmp_path, book, name="t.xlsx")
    assert read(tmp_path, book, "t.xlsx", sheet="B").judges == ("Xi", "Yan", "Zoe")
    assert "its sheets are 'A', 'B'" in asked(tmp_path, book, name="t.xlsx", sheet="C")


def test_per_cent_is_never_guessed_from_numbers_alone(tmp_path):
    table = text(cells(("Risk", "Ann", "Bob", "Cid"), shown=lambda share: f"{share * 100:.0f}"))
    assert "--percent" in asked(tmp_path, table)
    assert read(tmp_path, table, percent=True).probability.max() == 0.55


def test_the_record_is_plain_values(tmp_path):
    told = read(tmp_path, text(long_rows(("Expert", "Risk", "Estimate")), ";")).reading.as_dict()
    assert (told["format"], told["shape"]) == ("coherently-reading", "long")
    assert [(each["name"], each["role"]) for each in told["columns"]] == [
        ("Expert", "judge"),
        ("Risk", "event"),
        ("Estimate", "probability"),
    ]


def test_writers_of_texts_for_spreadsheets(tmp_path):
    import openpyxl

    from coherently.panel import write_table
    from coherently.panel.writers import excel_bytes

    panel = read(tmp_path, text(cells()))
    result = co.aggregate(panel)
    write_table(result.columns(), tmp_path / "o.xlsx", labels=panel.labels)
    header, *rows = openpyxl.load_workbook(tmp_path / "o.xlsx").active.iter_rows(values_only=True)
    assert header[:3] == ("event", "title", "probability")
    assert [row[1] for row in rows] == ["Supplier delay", "Budget overrun", "Supplier delay and Budget overrun"]
    assert [row[2] for row in rows] == result.columns()["probability"].tolist()
    first = Path(tmp_path / "o.xlsx").read_bytes()
    write_table(result.columns(), tmp_path / "o.xlsx", labels=panel.labels)
    assert (tmp_path / "o.xlsx").read_bytes() == first
    assert excel_bytes({"event": ["=1+1", "é;"], "p": [0.5, None]}, True).decode("utf-8") == (
        '\ufeffevent;p\r\n\'=1+1;0,5\r\n"é;";\r\n'
    )
    assert excel_bytes({"p": [0.5]}, False).decode("utf-8") == "\ufeffp\r\n0.5\r\n"
    with pytest.raises(co.PanelError, match=r"ends in \.csv"):
        write_table(result.columns(), tmp_path / "o.parquet", excel_csv=True)


QUESTIONS = {
    "Name,Fire,Flood\nAnn,0.2,0.3\n": 2,
    "Risk,Low,High,Ann,Bob\nfire,0.1,0.3,0.2,0.25\nflood,0.2,0.4,0.3,0.35\n": 2,
    "event,chance,likelihood\nfire,0.2,0.3\n": 2,
    "a,b,c\nfire,red,0.2\nflood,blue,0.3\n": 2,
    "market,odds,price\nfire,150,0.2\nflood,200,0.3\n": 0,
}


@pytest.mark.parametrize(("table", "count"), QUESTIONS.items())
def test_every_answer_to_a_question_is_the_option_that_the_message_names_and_is_taken(tmp_path, table, count):
    path = tmp_path / "table.csv"
    path.write_text(table)
    if not count:
        co.read_panel(path)
        return
    with pytest.raises(UnclearTableError) as caught:
        co.read_panel(path)
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.question, error.answers) == (caught.value.question, caught.value.answers)
    assert error.question in str(error)
    assert len(error.answers) == count
    for answer in error.answers:
        columns = {role: list(names) for role, names in answer.columns}
        try:
            panel = co.read_panel(path, columns=columns)
        except UnclearTableError as again:
            assert again.question != error.question
        else:
            told = {name: each.role for each in panel.reading.columns for name in [each.name]}
            for role, names in answer.columns:
                assert {told[name] for name in names} == {"left out" if role == "ignore" else role}


def test_a_look_shows_the_first_rows_of_what_cannot_be_read(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("My list\n\nName;Fire\nAnn;0,2\n")
    seen = look_at_table(path, ReadingChoices())
    assert (seen.separator, seen.header_row, [each.name for each in seen.columns]) == (";", 3, ["Name", "Fire"])
    assert [(each.row, each.cells) for each in seen.sample] == [
        (1, ("My list", "")),
        (3, ("Name", "Fire")),
        (4, ("Ann", "0,2")),
    ]
    path.write_bytes(b"\x00\x01\x02")
    assert look_at_table(path, ReadingChoices()) is None


def test_columns_of_numbers_may_be_said_to_be_events(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("Name,Fire,Flood\nAnn,0.2,0.3\nBob,0.4,0.1\n")
    panel = co.read_panel(path, columns={"judge": "Name", "event": ["Fire", "Flood"]})
    assert (panel.judges, panel.events.variables) == (("Ann", "Bob"), ["Fire", "Flood"])


def said(panel):
    """The answers of a panel: judge, event, probability, bounds."""
    lower, upper = ([None] * len(panel) if bound is None else bound.tolist() for bound in (panel.lower, panel.upper))
    names = zip(panel.judge_index.tolist(), panel.event_index.tolist(), strict=True)
    told = [(panel.judges[judge], panel.written.text[event]) for judge, event in names]
    rows = zip(told, panel.probability.tolist(), lower, upper, strict=True)
    return {key: tuple(None if x is None or math.isnan(x) else round(x, 9) for x in values) for key, *values in rows}


BOUNDS = {
    ("Ann", "fire"): (0.2, 0.1, 0.3),
    ("Bob", "fire"): (0.4, 0.3, 0.5),
    ("Ann", "flood"): (0.5, 0.4, 0.6),
}
INTERVALS = {
    "two columns": "event,Ann low,Ann high,Bob low,Bob high\nfire,0.1,0.3,0.3,0.5\nflood,0.4,0.6,,\n",
    "in brackets": "Risk,Ann (min),Ann (max),Bob (min),Bob (max)\nfire,10%,30%,30%,50%\nflood,40%,60%,,\n",
    "word first": "Risk;Min Ann;Max Ann;Min Bob;Max Bob\nfire;0,1;0,3;0,3;0,5\nflood;0,4;0,6;;\n",
    "with a best guess": "Risk,Ann low,Ann,Ann high,Bob low,Bob best,Bob high\n"
    "fire,0.1,0.2,0.3,0.3,0.4,0.5\nflood,0.4,0.5,0.6,,,\n",
    "a row of names above": "Risks;Ann;;Bob;\nRisk;low;high;low;high\nfire;0,1;0,3;0,3;0,5\nflood;0,4;0,6;;\n",
    "two numbers in a cell": "Risk,Ann,Bob\nfire,10-30 %,0.3 to 0.5\nflood,40% – 60%,\n",
    "in German": "Risiko;Ann;Bob\nfire;0,1 bis 0,3;30-50 %\nflood;0,4 – 0,6;k.A.\n",
}


@pytest.mark.parametrize("name", INTERVALS)
def test_intervals_of_judges_in_wide_tables(tmp_path, name):
    panel = read(tmp_path, INTERVALS[name])
    assert said(panel) == BOUNDS
    assert any("bounds of Ann" in note or "two numbers read as intervals" in note for note in panel.notes)


def test_intervals_beside_plain_numbers_and_an_outcome(tmp_path):
    panel = read(tmp_path, "Risk,Ann low,Ann high,Cid,Outcome\nfire,0.1,0.3,0.25,1\nflood,,,0.2,0\n")
    assert said(panel) == {
        ("Cid", "fire"): (0.25, None, None),
        ("Ann", "fire"): (0.2, 0.1, 0.3),
        ("Cid", "flood"): (0.2, None, None),
    }
    assert panel.written.outcome.tolist() == [1, 0]


def test_numbers_after_names_and_bounds_of_nobody_are_no_intervals(tmp_path):
    panel = read(tmp_path, "event,Expert 5,Expert 95,Ann low\nfire,0.1,0.3,0.2\n")
    assert panel.judges == ("Expert 5", "Expert 95", "Ann low")
    columns = {"judge": ["Ann low", "Ann high"]}
    panel = read(tmp_path, "event,Ann low,Ann high\nfire,0.1,0.3\n", columns=columns)
    assert (panel.judges, panel.lower) == (("Ann low", "Ann high"), None)


def test_an_interval_that_is_the_wrong_way_round_is_refused_with_its_place(tmp_path):
    assert "row 2: lower 0.4 is above upper 0.3" in asked(tmp_path, "Risk,Ann low,Ann high\nfire,0.4,0.3\n")
    assert "'40-30 %'" in asked(tmp_path, "Risk,Ann\nfire,40-30 %\nflood,0.2\nstorm,0.3\n")


@given(
    width=st.integers(1, 60),
    rows=st.integers(1, 5),
    mark=st.sampled_from(",;\t|"),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_columns_are_counted_without_reading_the_table(tmp_path_factory, width, rows, mark, encoding, end):
    cells = [[f'"a{mark * 99} {row}"', *(f"0.{column}" for column in range(1, width))] for row in range(rows)]
    file = tmp_path_factory.mktemp("wide") / "t.csv"
    file.write_bytes(end.join(mark.join(row) for row in cells).encode(encoding))
    assert count_columns(file) == width


def test_columns_of_a_workbook_are_not_counted_as_text(tmp_path):
    (tmp_path / "t.xlsx").write_bytes(workbook(("Risks", cells())))
    assert count_columns(tmp_path / "t.xlsx") == 0
