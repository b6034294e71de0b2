from __future__ import annotations

import pytest

import coherently as co
from coherently.errors import PanelError
from coherently.panel.cell_table import Table
from coherently.panel.layout import QUOTE_PAIRS, ROLES, SHAPES, Long, Wide, find_roles, pick, recognise


def table(header):
    return Table("panel.csv", {name: ["x"] for name in header.split(",")}, range(1, 2))


def refusal(header):
    with pytest.raises(PanelError) as caught:
        recognise(table(header))
    return str(caught.value)


@pytest.mark.parametrize(
    ("header", "layout"),
    [
        ("judge,event,probability", Long("event", "probability", "judge")),
        ("event,probability", Long("event", "probability")),
        ("Forecaster,QUESTION,Prob", Long("QUESTION", "Prob", "Forecaster")),
        (
            "p,lower,upper,model,event_id,weight,resolution,time",
            Long("event_id", "p", "model", "weight", "lower", "upper", "resolution", "time"),
        ),
        (",judge,event,p,comment", Long("event", "p", "judge", ignored=("", "comment"))),
        ("event,jugde,probability", Long("event", "probability", ignored=("jugde",))),
    ],
)
def test_long(header, layout):
    assert recognise(table(header)) == layout


@pytest.mark.parametrize(
    ("header", "layout"),
    [
        (",Alice,Bob", Wide("", ("Alice", "Bob"))),
        ("event,Alice,Bob", Wide("event", ("Alice", "Bob"))),
        ("Question,Jude", Wide("Question", ("Jude",))),
        ("event,model_1,model_2", Wide("event", ("model_1", "model_2"))),
        ("event,Ann,Bob,Max", Wide("event", ("Ann", "Bob", "Max"))),
        ("event,Min,Low", Wide("event", ("Min", "Low"))),
        ("event,High,Ann Price", Wide("event", ("High", "Ann Price"))),
        ("event,Nomi,Maska,Volumnia", Wide("event", ("Nomi", "Maska", "Volumnia"))),
    ],
)
def test_wide(header, layout):
    assert recognise(table(header)) == layout


@pytest.mark.parametrize(("role", "name"), [(role, name) for role, names in ROLES.items() for name in names])
def test_every_alias_plays_its_role(role, name):
    assert find_roles(table(f"x,{name.upper()}")) == {role: name.upper()}


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("event,p,prob", "panel.csv has 2 probability columns, 'p', 'prob': rename all but one"),
        ("judge,user,model,event,p", "panel.csv has 3 judge columns, 'judge', 'user', 'model': rename"),
    ],
)
def test_two_names_of_one_role_are_refused(header, message):
    assert message in refusal(header)


@pytest.mark.parametrize(
    ("header", "guesses"),
    [
        ("evnt,judge,probability", {"event": "evnt"}),
        ("event,judge,probabilty", {"probability": "probabilty"}),
        ("event,jugde,probabilty", {"judge": "jugde", "probability": "probabilty"}),
        ("evnt,jugde,probability", {"event": "evnt", "judge": "jugde"}),
        ("Evnt,Alice,Bob", {"event": "Evnt"}),
        ("event,judge,Forcast", {"probability": "Forcast"}),
    ],
)
def test_a_misspelt_column_is_guessed(header, guesses):
    message = refusal(header)
    for role, guess in guesses.items():
        names = ", ".join(ROLES[role])
        hint = f"Did you mean {guess!r}? Rename it to {role!r}."
        assert f"There is no {role} column (accepted names: {names}). {hint}\n" in message
    assert message.count("Did you mean") == len(guesses)


@pytest.mark.parametrize(
    ("header", "missing"),
    [
        ("event,judge", ["probability"]),
        ("judge,probability", ["event"]),
        (",judge,probability", ["event"]),
        ("judge,colour", ["event", "probability"]),
        ("Alice,event,Bob", ["probability"]),
        ("name,Alice,Bob", []),
    ],
)
def test_a_missing_column_is_named_without_a_guess(header, missing):
    message = refusal(header)
    columns = ", ".join(map(repr, header.split(",")))
    assert message.startswith(f"panel.csv is neither a long nor a wide table; its columns are {columns}.\n")
    for role in ("event", "judge", "probability"):
        assert (f"There is no {role} column" in message) == (role in missing)
    assert "Did you mean" not in message
    assert message.endswith(SHAPES)


def test_a_judge_may_not_have_the_name_of_a_column():
    message = refusal("event,Alice,Time")
    assert "none may be called 'Time': rename such a judge" in message
    assert "--outcomes" in message


@pytest.mark.parametrize("header", ["event", ""])
def test_events_alone_are_refused(header):
    assert refusal(header) == f"panel.csv has events but no column for any judge.\n{SHAPES}"


def test_pick_finds_the_one_column():
    assert pick(table("Label,id"), "title", ("title", "label")) == "Label"


@pytest.mark.parametrize(
    ("header", "wrong"),
    [("a,b", "no title column"), ("title,label", "2 title columns ('title', 'label')")],
)
def test_pick_refuses_none_and_two(header, wrong):
    with pytest.raises(PanelError) as caught:
        pick(table(header), "title", ("title", "label"))
    assert f"panel.csv has {wrong} among" in str(caught.value)
    assert "name exactly one of them 'title' (also accepted: label)" in str(caught.value)


def test_columns_of_a_market_are_suggested_as_quotes():
    message = refusal("ticker,yes_bid,yes_ask,last_price")
    assert "Perhaps rename 'ticker' to 'event', 'yes_bid' to 'lower', 'yes_ask' to 'upper'; prices in cents" in message
    assert "'last_price' to" not in message
    assert "Perhaps rename 'Risk' to 'event'.\n" in refusal("Risk,Ann,Bob")
    assert "Perhaps rename 'price' to 'probability'; prices in cents need --percent" in refusal("event,price,judge")


def test_the_first_column_may_hold_the_events():
    assert "If the first column, 'Ereignis', holds the events, rename it to 'event'." in refusal("Ereignis,Ann")
    assert "holds the events" not in refusal("judge,event,probabilty")


@pytest.mark.parametrize(("low", "high"), QUOTE_PAIRS)
def test_pairs_of_quotes_are_bounds_in_every_shape(low, high):
    assert recognise(table(f"event,{low},{high}")) == Long("event", lower=low, upper=high)
    assert recognise(table(f",{high},{low}")) == Long("", lower=low, upper=high)
    spelt = low.replace("_", " ").title(), high.upper()
    assert recognise(table(f"question,{','.join(spelt)}")) == Long("question", lower=spelt[0], upper=spelt[1])
    found = recognise(table(f"judge,event,p,{low},{high},comment"))
    assert found == Long("event", "p", "judge", lower=low, upper=high, ignored=("comment",))
    found = recognise(table(f"event,{low},{high},last_price,volume,yes_bid_size,open_interest"))
    assert found.ignored == ("last_price", "volume", "yes_bid_size", "open_interest")


@pytest.mark.parametrize("name", ["lower", "upper"])
def test_bounds_under_their_own_names_come_before_quotes(name):
    found = recognise(table(f"event,{name},bid,ask"))
    assert getattr(found, name) == name
    assert found.ignored == ("bid", "ask")


@pytest.mark.parametrize(
    "name",
    [
        *("bid", "Ask", "yes_bid", "no_ask", "best_bid", "Kalshi Bid", "poly-ask", "yes", "No", "last_price", "last"),
        *("mid", "mid_price", "price", "size", "bid_size", "Ask Size", "volume", "volume_24h", "yes_volume", "fee"),
        *("taker_fee", "fees", "odds", "decimal_odds", "American Odds", "moneyline", "spread", "open_interest"),
        *("Open Interest", "liquidity", "no price", "offer"),
    ],
)
def test_what_may_be_a_quote_is_asked_and_never_a_judge(name):
    for header in (f"event,{name}", f"event,Ann,{name},Bob", f",Ann,{name}", f"event,{name},Max"):
        message = refusal(header)
        assert (
            f"{name!r} in a table without a column of probabilities: is this a judge, or what a market says?" in message
        )
        assert f"If {name!r} is the name of a judge, add to it: '{name} (judge)'." in message
        renamed = header.replace(name, f"{name} (judge)")
        assert f"{name} (judge)" in recognise(table(renamed)).judges


def test_two_doubtful_columns_are_asked_about_together():
    assert "panel.csv: 'yes', 'no' in a table without a column of probabilities: are these judges" in refusal(
        "event,yes,no"
    )


@pytest.mark.parametrize("header", ["event,Ann,Bob,min,max", "event,bid,ask,status", ",Low,High,Open,Close"])
def test_quotes_beside_columns_that_may_be_judges_are_asked_about(header):
    message = refusal(header)
    assert "which look like quotes, beside " in message
    low, high = ({"min", "bid", "Low"} & set(header.split(","))), ({"max", "ask", "High"} & set(header.split(",")))
    assert "rename them to 'lower' and 'upper'; the other columns are then ignored" in message
    renamed = header.replace(*low, "lower").replace(*high, "upper")
    assert isinstance(recognise(table(renamed if renamed[0] != "," else f"event{renamed}")), Long)
    judges = header.replace(*low, f"{min(low)} (judge)").replace(*high, f"{min(high)} (judge)")
    assert isinstance(recognise(table(judges)), Wide)


def test_two_pairs_of_quotes_are_asked_about():
    assert "2 pairs of columns that may be quotes: 'bid', 'ask' and 'low', 'high'. Which are" in refusal(
        "event,bid,ask,low,high"
    )


@pytest.mark.parametrize("header", ["event,bid,ask,fee", "judge,event,lower,upper,p,taker_fee"])
def test_fees_beside_quotes_are_refused(header):
    assert "fees are not read from a table. Should they count?" in refusal(header)
    assert recognise(table("judge,event,p,fee")).ignored == ("fee",)


ROWS = [("rain", 0.7, 0.72), ("~rain", 0.3, 0.32)]


def doors(folder, names):
    """The panel of one table of quotes by every door."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    frame = pd.DataFrame(ROWS, columns=names)
    frame.to_csv(folder / "q.csv", index=False)
    frame.to_csv(folder / "q.tsv", index=False, sep="\t")
    frame.to_json(folder / "q.jsonl", orient="records", lines=True)
    frame.to_parquet(folder / "q.parquet")
    for name in ("q.csv", "q.tsv", "q.jsonl", "q.parquet"):
        yield lambda name=name: co.read_panel(folder / name)
    for make in (lambda f: f, pl.from_pandas, pa.Table.from_pandas):
        yield lambda make=make: co.Panel.from_frame(make(frame))
    yield lambda: co.Panel.from_records(frame.to_dict("records"))


def test_quotes_come_through_every_door(tmp_path):
    for read in doors(tmp_path, ["event", "bid", "ask"]):
        panel = read()
        assert (panel.judges, panel.lower.tolist(), panel.upper.tolist()) == (("panel",), [0.7, 0.3], [0.72, 0.32])
        assert panel.probability.tolist() == pytest.approx([0.71, 0.31])
        assert any(
            note.endswith(
                "bid and ask are read as quotes (lower and upper bounds); the middle of the two is the probability"
            )
            for note in panel.notes
        )
        assert not co.dutch_book(panel)


def test_doubtful_columns_are_asked_about_at_every_door(tmp_path):
    for read in doors(tmp_path, ["event", "yes", "no"]):
        with pytest.raises(PanelError, match="are these judges, or what a market says"):
            read()


def test_crossed_quotes_are_refused_with_their_row(tmp_path):
    (tmp_path / "q.csv").write_text("event,bid,ask\np,0.5,0.6\nq,0.8,0.7\n")
    with pytest.raises(PanelError, match=r"q.csv row 3: bid 0.8 is above ask 0.7"):
        co.read_panel(tmp_path / "q.csv")


def test_what_is_not_used_beside_quotes_is_said(tmp_path):
    (tmp_path / "q.csv").write_text("event,judge,bid,ask,ask_size,volume,comment\np,Ann,50,60,7,8,x\n")
    assert co.read_panel(tmp_path / "q.csv", percent=True).notes == (
        "q.csv: bid as the lower bound, ask as the upper bound, ask_size and volume as the size "
        "(--columns ROLE=NAME,... changes that)",
        "q.csv: comment kept as reasons: 1 (panel.reading.reasons)",
        "q.csv: kept in panel.reading.kept, and not counted by any command yet: ask_size and volume",
        "q.csv: bid and ask are read as quotes (lower and upper bounds); the middle of the two is the probability",
    )
