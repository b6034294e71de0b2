"""Families of questions, written for the tests, with all that a careful reader would call certain or likely of each.

A relation is (class, relation, members); members are numbers of the questions, those of a ladder strongest first. What
is not listed must not be found as certain or likely: traps have an empty list.
"""

from __future__ import annotations

C, L = "certain", "likely"


def group(name, *texts, title=None, options=None, **fields):
    """Questions of one group."""
    options = options or [None] * len(texts)
    return [
        {"id": f"{name}{i}", "text": text, "group": name, "group_title": title, "option": option, **fields}
        for i, (text, option) in enumerate(zip(texts, options, strict=True))
    ]


FAMILIES = {
    # Thresholds
    "thresholds on a day": (
        ["Gold above $2,000 on June 1, 2026", "Gold above $2.5k on June 1, 2026", "Gold over $3000 on 1 June 2026"],
        [(C, "ladder", (2, 1, 0))],
    ),
    "thresholds from below": (
        ["Rain under 10 mm on May 1, 2026", "Rain under 5 mm on May 1, 2026"],
        [(C, "implies", (1, 0))],
    ),
    "thresholds without an anchor": (
        ["Profit above 3 million", "Profit above 2 million"],
        [(L, "implies", (0, 1))],
    ),
    "prices that are reached": (
        [
            "Will tin hit $90 by June 30, 2026?",
            "Will tin hit $95 by June 30, 2026?",
            "Will tin dip to $50 by June 30, 2026?",
        ],
        [(L, "implies", (1, 0))],
    ),
    "over and under lines": (
        group("m", "Reds vs Blues: O/U 2.5", "Reds vs Blues: O/U 3.5"),
        [(L, "implies", (1, 0))],
    ),
    "places from the top": (
        ["Will Ida finish in the top 3 at the 2026 Open?", "Will Ida finish in the top 10 at the 2026 Open?"],
        [(C, "implies", (0, 1))],
    ),
    "strike numbers of a platform": (
        [
            {
                "id": f"s{n}",
                "text": "Jobs report in May 2026",
                "group": "jobs",
                "strike": {"type": "greater", "floor": n},
            }
            for n in (100, 150)
        ],
        [(C, "implies", (1, 0))],
    ),
    "options with numbers": (
        group(
            "e", "How many seats?", "How many seats?", title="How many seats in 2026?", options=["Above 30", "Above 40"]
        ),
        [(C, "implies", (1, 0))],
    ),
    "two days": (["Gold above $2,000 on June 1, 2026", "Gold above $1,000 on June 2, 2026"], []),
    "two years": (["GDP growth above 2% in 2026", "GDP growth above 1% in 2027"], []),
    "two units": (["Prices up by more than 3% on May 1, 2026", "Prices up by more than $2 on May 1, 2026"], []),
    "two matches": (
        [*group("m1", "Games total: O/U 2.5", "Set winner"), *group("m2", "Games total: O/U 3.5", "Set winner")],
        [],
    ),
    "lines of two matches": (
        [*group("m1", "Total: O/U 2.5", "Total: O/U 4.5"), *group("m2", "Total: O/U 3.5", "Total: O/U 5.5")],
        [(L, "implies", (1, 0)), (L, "implies", (3, 2))],
    ),
    "chapters are not amounts": (
        ["Will chapter 11 appear on May 1, 2026?", "Will chapter 12 appear on May 1, 2026?"],
        [],
    ),
    "closing far apart": (
        [
            {"id": "a", "text": "Inflation above 3%", "close_date": "2026-01-31"},
            {"id": "b", "text": "Inflation above 2%", "close_date": "2026-06-30"},
        ],
        [],
    ),
    "a rank above": (["Will Ida rank above 5 in the 2026 list?", "Will Ida rank above 9 in the 2026 list?"], []),
    "outside the top": (["Ida outside the top 5 at the 2026 Open", "Ida outside the top 9 at the 2026 Open"], []),
    "no storm above": (["Will there be no storm above 5 in 2026?", "Will there be no storm above 4 in 2026?"], []),
    "before an election": (["Oil above $90 before the 2026 vote", "Oil below $60 before the 2026 vote"], []),
    "five of them will not": (
        ["Will more than 5 banks fold on May 1, 2026?", "Will more than 5 banks not fold on May 1, 2026?"],
        [],
    ),
    # Bins and complements
    "complements on a day": (
        ["Rate less than 4.5% on June 30, 2026", "Rate at least 4.5% on 2026-06-30"],
        [(C, "complement", (0, 1))],
    ),
    "above and below leave the line": (
        ["Rate below 4.5% on June 30, 2026", "Rate above 4.5% on June 30, 2026"],
        [(C, "excludes", (0, 1)), (L, "complement", (0, 1))],
    ),
    "bins that touch": (
        [f"Turnout {bin_} in the 2026 vote" for bin_ in ("under 50%", "50-55%", "55-60%", "over 60%")],
        [(L, "partition", (0, 1, 2, 3))],
    ),
    "bins of whole numbers": (
        [f"Medals {bin_} at the 2026 Games" for bin_ in ("fewer than 10", "10 to 19", "20 or more")],
        [(C, "at_most", (0, 1, 2)), (L, "partition", (0, 1, 2))],
    ),
    "bins with exact ends": (
        [f"Share {bin_} in the 2026 vote" for bin_ in ("at most 5%", "more than 5% and at most 9%", "more than 9%")],
        [(C, "partition", (0, 1, 2))],
    ),
    "a bin within a threshold": (
        ["Share 30% to 40% in the 2026 vote", "Share at least 20% in the 2026 vote"],
        [(C, "implies", (0, 1))],
    ),
    "nested bins": (
        ["A bridge of 200 to 260 metres", "A bridge of 190 to 270 metres"],
        [(L, "implies", (0, 1))],
    ),
    "in a year values come and go": (
        ["Oil above $90 in 2026", "Oil below $60 in 2026"],
        [(L, "excludes", (1, 0))],
    ),
    "on any day values come and go": (
        ["Oil above $90 on any day before July 1, 2026", "Oil below $60 on any day before July 1, 2026"],
        [],
    ),
    "outside of a range": (
        [
            "Index greater than 75k and at most 76k on May 1, 2026",
            "Index at most 75k or greater than 76k on May 1, 2026",
        ],
        [(C, "complement", (1, 0))],
    ),
    "some and none": (
        [
            "Will any storms form in May 2026?",
            "Will exactly 1 storm form in May 2026?",
            "Will 2 or more storms form in May 2026?",
        ],
        [(L, "ladder", (2, 0)), (L, "implies", (1, 0)), (L, "excludes", (1, 2))],
    ),
    # Deadlines
    "deadlines of a group": (
        group("g", "Launch before May 2026", "Launch before June 2026", "Launch before 2027"),
        [(C, "ladder", (0, 1, 2))],
    ),
    "deadlines in options": (
        group("w", *["When will it fly?"] * 2, title="When will it fly?", options=["Before 2030", "Before 2035"]),
        [(C, "implies", (0, 1))],
    ),
    "deadlines of unknown opening": (
        ["Cut by June 30, 2026", "Cut by 31.12.2026"],
        [(L, "implies", (0, 1))],
    ),
    "deadlines with one opening": (
        [
            {"id": "a", "text": "Cut by June 30, 2026", "open_date": "2026-01-01"},
            {"id": "b", "text": "Cut by December 31, 2026", "open_date": "2026-01-01"},
        ],
        [(C, "implies", (0, 1))],
    ),
    "deadlines without years": (["cut_by_june", "cut_by_december"], [(L, "implies", (0, 1))]),
    "a year in one text only": (["Cut by June 30", "Cut by December 31, 2026"], []),
    "a year from the closing date": (
        [
            {"id": "a", "text": "Will he resign before 7/13?", "close_date": "2026-07-13"},
            {"id": "b", "text": "Will he resign before July 20?", "close_date": "2026-07-20"},
        ],
        [(L, "implies", (0, 1))],
    ),
    "a year from the description": (
        [
            {"id": "a", "text": "Out by June 30?", "description": "Resolves yes if out by June 30, 2026."},
            {"id": "b", "text": "Out by December 31?", "description": "Resolves yes if out by December 31, 2026."},
        ],
        [(L, "implies", (0, 1))],
    ),
    "negated deadlines": (
        ["Rates not cut by June 30, 2026", "Rates not cut by December 31, 2026"],
        [(L, "implies", (1, 0))],
    ),
    "what remains": (
        ["Will Cid remain chair through June 2026?", "Will Cid remain chair through June 2027?"],
        [(L, "implies", (1, 0))],
    ),
    "what still is, by a date": (["Still open by June 2026", "Still open by June 2027"], []),
    "within years": (
        ["Flood within 1 year", "Flood within three years", "Flood within 5 years"],
        [(L, "ladder", (0, 1, 2))],
    ),
    "fewer by a date": (["Fewer than 5 strikes before June 1, 2026", "Fewer than 5 strikes before July 1, 2026"], []),
    "goals have dates of their own": (
        group("c", "Will it meet its goals? - By 2025", "Will it meet its goals? - By 2030"),
        [],
    ),
    "a window that opened later": (
        [
            {
                "id": "a",
                "text": "Attack before May 1, 2026",
                "description": "Following the date of this question's publication.",
            },
            {"id": "b", "text": "Attack before September 1, 2026", "description": "An attack anywhere."},
        ],
        [],
    ),
    "averages fall again": (
        group("a", "Average price above $5 before June 2026", "Average price above $5 before July 2026"),
        [],
    ),
    "states come and go": (
        group("l", "Will Ann lead the polls by June 30, 2026?", "Will Ann lead the polls by July 30, 2026?"),
        [(L, "implies", (0, 1))],
    ),
    "on two days": (["Strike on May 1, 2026", "Strike on May 2, 2026"], []),
    "two windows": (["Strike between May 1 and May 9, 2026", "Strike between May 1 and May 20, 2026"], []),
    # Quarters and years
    "a quarter in its year": (
        ["Launch in Q1 2026", "Launch in 2026", "Launch in Q2 2026"],
        [(L, "implies", (0, 1)), (L, "implies", (2, 1))],
    ),
    "a month before a deadline": (
        ["Launch in March 2026", "Launch by December 31, 2026"],
        [(L, "implies", (0, 1))],
    ),
    "a quarter's growth is not its year's": (["GDP growth above 2% in Q1 2026", "GDP growth above 2% in 2026"], []),
    # Negation
    "not": (
        ["Will the pact be signed by May 1, 2026?", "Will the pact not be signed by May 1, 2026?"],
        [(C, "complement", (0, 1))],
    ),
    "fail to": (
        ["Will Oslo qualify for the 2026 final?", "Will Oslo fail to qualify for the 2026 final?"],
        [(L, "complement", (0, 1))],
    ),
    "no": (["Supplier delay", "No supplier delay"], [(L, "complement", (0, 1))]),
    "any of them will not": (
        ["Will any bank report a loss in 2026?", "Will any bank not report a loss in 2026?"],
        [],
    ),
    "announced that it will not": (
        [
            "Will it announce that it will sell before May 1, 2026?",
            "Will it announce that it will not sell before May 1, 2026?",
        ],
        [],
    ),
    "turned round": (
        ["Norway is larger than Finland", "Finland is larger than Norway"],
        [(L, "complement", (1, 0))],
    ),
    "turned round by a number": (
        ["Will Ann beat Bob by more than 5 on May 1, 2026?", "Will Bob beat Ann by more than 5 on May 1, 2026?"],
        [(L, "excludes", (0, 1))],
    ),
    "opposite directions": (
        [
            "Bank increases rates by 25 bps after the May 2026 meeting",
            "Bank decreases rates by 25 bps after the May 2026 meeting",
        ],
        [(L, "excludes", (0, 1))],
    ),
    "asked twice": (
        [{"id": "a", "text": "Brokered convention in 2026?"}, {"id": "b", "text": "Brokered convention in 2026?"}],
        [(L, "equivalent", (0, 1))],
    ),
    # Names
    "one winner": (
        ["Will Ann win the 2026 Oslo Race?", "Will Bob win the 2026 Oslo Race?", "Will Cid win the 2026 Oslo Race?"],
        [(L, "at_most", (0, 1, 2))],
    ),
    "the next": (
        ["Will Ann be the next captain?", "Will Bob be the next captain?"],
        [(L, "excludes", (0, 1))],
    ),
    "somebody else": (
        ["Ann wins the 2026 Cup", "Bob wins the 2026 Cup", "Someone other than Ann or Bob wins the 2026 Cup"],
        [(L, "exactly", (0, 1, 2))],
    ),
    "one of several": (
        ["Will Rome win the 2026 Cup?", "Will Rome or Oslo win the 2026 Cup?", "Will Bonn win the 2026 Cup?"],
        [(L, "implies", (0, 1)), (L, "excludes", (2, 1))],
    ),
    "a platform that says so": (
        group("p", "Will Ann attend?", "Will Bob attend?", exclusive=True),
        [(C, "excludes", (0, 1))],
    ),
    "a platform that says nothing": (group("p", "Will Ann attend?", "Will Bob attend?", exclusive=False), []),
    "titles that ask for one": (
        group(
            "b",
            "Title - Ann Roe",
            "Title - Bob Roe",
            title="Who will be the next Pope?",
            options=["Ann Roe", "Bob Roe"],
        ),
        [(L, "excludes", (0, 1))],
    ),
    "titles that ask for many": (
        group("b", "Song - Ann", "Song - Bob", title="What songs will be played first?", options=["Ann", "Bob"]),
        [],
    ),
    "results of a match": (
        [f"01/05/2026 Rome - Oslo: {result}" for result in ("home", "draw", "away")],
        [(L, "exactly", (0, 1, 2))],
    ),
    "two editions": (["Will Ann win the 2026 Race?", "Will Bob win the 2027 Race?"], []),
    "many may win a medal": (["Will Ann win a medal in 2026?", "Will Bob win a medal in 2026?"], []),
    "many may attend": (["Will Ann attend the 2026 summit?", "Will Bob attend the 2026 summit?"], []),
    "many may be nominated": (
        ["Will Ann be nominated for the 2026 prize?", "Will Bob be nominated for the 2026 prize?"],
        [],
    ),
    "many may be bridesmaids": (
        ["Will Ann be a bridesmaid at the wedding?", "Will Bea be a bridesmaid at the wedding?"],
        [],
    ),
    "a kind is no name": (["Will a Norwegian win the 2026 Race?", "Will Ann win the 2026 Race?"], []),
    "a shorter name may be the same": (["Will Ann win the 2026 Race?", "Will Ann Roe win the 2026 Race?"], []),
    "winning on a day": (["Will Rome win on 2026-05-01?", "Will Oslo win on 2026-05-01?"], []),
    "shares of two parties": (
        ["Will the Reds win 20-25% in the 2026 vote?", "Will the Blues win 20-25% in the 2026 vote?"],
        [],
    ),
    # Compounds and scopes
    "and, or, none": (
        [
            "Late parts",
            "High costs",
            "Late parts and high costs",
            "Late parts or high costs",
            "None of late parts and high costs",
        ],
        [
            *[(C, "equivalent", (n,)) for n in (2, 3, 4)],
            *[(C, "implies", pair) for pair in ((2, 0), (2, 1), (0, 3), (1, 3))],
            *[(C, "excludes", pair) for pair in ((4, 0), (4, 1))],
        ],
    ),
    "a part that is no row": (["Late parts", "Late parts and bad weather"], []),
    "quoted parts": (
        [
            "Will Norway ban plastic bags before 2030?",
            "Will Sweden build a new nuclear plant before 2030?",
            "Will both of the following occur before 2030: (a) Norway bans plastic bags, "
            "and (b) Sweden does not build a new nuclear plant?",
        ],
        [(L, "implies", (2, 0)), (L, "excludes", (2, 1)), (L, "equivalent", (2,))],
    ),
    "quoted parts of another country": (
        [
            "Will Norway ban plastic bags before 2030?",
            "Will both of the following occur before 2030: (a) Finland bans plastic bags, and (b) rain falls?",
        ],
        [],
    ),
    "winning and reaching": (
        ["Team A wins the final", "Team A reaches the final"],
        [(L, "implies", (0, 1))],
    ),
    "winning and qualifying": (
        ["Will Italy win the 2026 World Cup?", "Will Italy qualify for the 2026 World Cup?"],
        [(L, "implies", (0, 1))],
    ),
    "gold is a medal": (
        ["Will Ann win a gold medal at the 2026 Games?", "Will Ann win a medal at the 2026 Games?"],
        [(L, "implies", (0, 1))],
    ),
    "another who qualifies": (
        ["Will Italy win the 2026 World Cup?", "Will Spain qualify for the 2026 World Cup?"],
        [],
    ),
}
