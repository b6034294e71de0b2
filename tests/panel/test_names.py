"""Names with spaces, and names that look like formulas."""

import pytest

import coherently as co

SHEET = "event,Ann,Bob\nSupplier delay,35%,40%\nBudget overrun,50%,45%\nSupplier delay and Budget overrun,40%,20%\n"


def refused(*events, **options):
    with pytest.raises(co.PanelError) as raised:
        co.Panel.from_records([("Ann", event, 0.5) for event in events], **options)
    return str(raised.value)


@pytest.mark.parametrize(
    ("event", "quoted", "joined"),
    [
        ("Supplier delay", '"Supplier delay"', "Supplier_delay"),
        ("Supplier delay and Budget overrun", '"Supplier delay"', "Supplier_delay"),
        ("rain & ~(Budget overrun | wind)", '"Budget overrun"', "Budget_overrun"),
        ('"Supplier delay" & Budget overrun', '"Budget overrun"', "Budget_overrun"),
        ("Rain in London", '"Rain in London"', "Rain_in_London"),
        ("Will it rain?", '"Will it rain?"', None),
        ("p given Supplier delay", '"Supplier delay"', "Supplier_delay"),
        ("BTC 60k", '"BTC 60k"', "BTC_60k"),
    ],
)
def test_an_error_shows_how_a_name_with_spaces_is_written(event, quoted, joined):
    message = refused(event)
    assert f"a name with spaces goes in quotes: {quoted}" in message
    assert (f"or is written {joined}" in message) == (joined is not None)
    assert quoted.replace('"', '"""') in message
    assert "pass --plain-events (plain_events=True)" in message
    co.Panel.from_records([("Ann", quoted, 0.5), ("Bob", joined or "p", 0.5)])


def test_the_space_is_the_trouble_not_the_digit():
    assert "begins with a letter" not in refused("BTC 60k")
    assert "begins with a letter" in refused("3M")


@pytest.mark.parametrize("event", ["rain &", "(rain", "rain?", "rain => wet", "p & (q | )"])
def test_other_faults_say_nothing_of_spaces(event):
    message = refused(event)
    assert "spaces" not in message
    assert "--plain-events" not in message


def test_laws_and_look_ups_show_the_quoted_form_too():
    assert 'a name with spaces goes in quotes: "Supplier delay"' in refused("p", laws=["Supplier delay -> p"])
    assert 'a name with spaces goes in quotes: "Supplier delay"' in refused("p", laws=["P(Supplier delay) = 0.3"])
    with pytest.raises(co.EventError, match='"Supplier delay"'):
        co.aggregate(co.Panel.from_records([("Ann", "p", 0.5)])).probability("Supplier delay")


def test_the_remedies_that_the_error_names_find_the_contradiction(tmp_path):
    file = tmp_path / "risks.csv"
    quoted = SHEET.replace("Supplier delay", '""Supplier delay""').replace("Budget overrun", '""Budget overrun""')
    header, *rows = quoted.splitlines()
    cells = ['"{}",{}'.format(*row.split(",", 1)) for row in rows]
    file.write_text("\n".join([header, *cells]))
    assert not co.check(co.read_panel(file)).judges["Ann"].coherent
    file.write_text(SHEET.replace("Supplier delay", "Supplier_delay").replace("Budget overrun", "Budget_overrun"))
    assert not co.check(co.read_panel(file)).judges["Ann"].coherent


def plain_notes(*events, **options):
    return co.Panel.from_records([("Ann", event, 0.5) for event in events], plain_events=True, **options).notes


def test_plain_events_that_look_like_formulas_of_others_are_noted(tmp_path):
    file = tmp_path / "risks.csv"
    file.write_text(SHEET)
    note, unrelated = co.read_panel(file, plain_events=True).notes
    assert note.startswith(
        "risks.csv: with plain events 'Supplier delay and Budget overrun' is a name, unrelated to 'Supplier delay' "
        "and 'Budget overrun'; if they are related"
    )
    assert "nothing relates one event to another" in unrelated


@pytest.mark.parametrize(
    "text", ["not rain", "~rain", "Rain & snow", "rain given wind", "(wind) or frost", "wind -> x"]
)
def test_operators_around_a_name_are_seen(text):
    note = plain_notes("rain", "wind", text)[0]
    assert f"with plain events {text!r} is a name, unrelated to" in note


def test_several_such_names_are_counted():
    note = plain_notes("rain", "rain & wind", "rain | wind", "not rain")[0]
    assert "unrelated to 'rain', and so are 2 more such cells" in note


def test_plain_names_that_hold_no_other_name_are_not_noted():
    laws = ['"Will it rain?" -> "Is it wet?"']
    assert plain_notes("Will it rain?", "Is it wet?", "Ann and Bob win", laws=laws) == ()


def test_plain_events_without_a_law_are_unrelated():
    (note,) = plain_notes("KXBTC-60", "KXBTC-70")
    assert "with plain events and no laws about them nothing relates one event to another" in note
    assert len(plain_notes("p", "q", laws=["a -> b"])) == 2
    assert plain_notes("p") == ()


def notes(*events, **options):
    return co.Panel.from_records([("Ann", event, 0.5) for event in events], **options).notes


def test_tickers_that_were_read_as_formulas_are_noted():
    (note,) = notes("S&P500", "AT&T", "R|D", "x")
    assert note == (
        "records: read as formulas; put quotes around those that are names: S&P500 (2 variables), AT&T (2 variables), "
        "R|D (2 variables)"
    )


def test_formulas_of_variables_that_others_use_are_not_noted():
    assert notes("A", "B", "A&B") == notes("a&b") == notes("A & B") == notes('"S&P500"') == ()
    assert notes("A&B", "A|B") == ()


def test_summaries_of_a_sheet_are_left_out_and_said(tmp_path):
    file = tmp_path / "panel.csv"
    file.write_text("event,Ann,Average\nrain,0.1,0.2\nMean,0.1,0.2\n")
    panel = co.read_panel(file)
    assert (panel.judges, panel.written.text[:]) == (("Ann",), ("rain",))
    assert panel.notes == (
        "panel.csv: columns left out: Average (the mean of the others, by its name)",
        "panel.csv: row 3 (Mean | 0.1 | 0.2) not read: the mean of others, by its name",
    )


def test_summaries_of_records_are_noted():
    rows = [{"event": "rain", "Ann": 0.1, "Average": 0.2}, {"event": "Mean", "Ann": 0.1, "Average": 0.2}]
    (note,) = co.Panel.from_records(rows).notes
    assert note == "records: counted as a judge or an event like the others: Average, Mean"


def test_a_formula_without_variables_is_no_ticker():
    assert notes("TRUE|X", "p") == ()


def test_notes_quote_long_names_in_short():
    long = "Will it " + "very " * 500 + "much rain"
    note = plain_notes(long, f"{long} and wind")[0]
    assert len(note) < 500
