"""Facts for practice: statements of our own writing that are true or false for good, each with its source."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PracticeFact:
    """A statement, whether it is true, and where one can look."""

    text: str
    is_true: bool
    source: str


FACTS = (
    PracticeFact(
        "The Eiffel Tower, with its antennas, is taller than 300 metres.",
        is_true=True,
        source="330 metres: the company that runs the tower (toureiffel.paris)",
    ),
    PracticeFact(
        "Mount Kilimanjaro is higher than 6,000 metres.", is_true=False, source="5,895 metres: Tanzania National Parks"
    ),
    PracticeFact(
        "Light takes more than ten minutes from the Sun to the Earth.",
        is_true=False,
        source="About 8 minutes and 19 seconds: the astronomical unit of the IAU divided by the speed of light",
    ),
    PracticeFact(
        "No other river carries as much water to the sea as the Amazon.",
        is_true=True,
        source="Encyclopaedia Britannica, “Amazon River”",
    ),
    PracticeFact(
        "Iceland has a larger area than the island of Ireland.",
        is_true=True,
        source="About 103,000 and 84,000 square kilometres: the statistical offices of both countries",
    ),
    PracticeFact(
        "Venus takes longer to turn once around its axis than to go once around the Sun.",
        is_true=True,
        source="243 and 225 days: NASA, Planetary Fact Sheet",
    ),
    PracticeFact(
        "The chemical symbol of tungsten is T.", is_true=False, source="It is W: IUPAC, Periodic Table of the Elements"
    ),
    PracticeFact(
        "A marathon is longer than 42 kilometres.",
        is_true=True,
        source="42.195 kilometres: World Athletics, Technical Rules",
    ),
    PracticeFact(
        "The French Revolution began before the United States declared independence.",
        is_true=False,
        source="1789 and 1776: National Archives of both countries",
    ),
    PracticeFact(
        "The Suez Canal was opened before the Panama Canal.",
        is_true=True,
        source="1869 and 1914: the authorities of both canals",
    ),
    PracticeFact(
        "Sydney is the capital of Australia.",
        is_true=False,
        source="It is Canberra: Seat of Government Act 1908 of Australia",
    ),
    PracticeFact(
        "More than 100 chemical elements have official names.",
        is_true=True,
        source="118: IUPAC, Periodic Table of the Elements",
    ),
    PracticeFact(
        "A litre of sea water weighs less than a litre of fresh water of the same temperature.",
        is_true=False,
        source="Salt makes it heavier: NOAA, Ocean Service",
    ),
    PracticeFact(
        "Mozart was younger than 40 when he died.",
        is_true=True,
        source="Born in 1756, died in 1791: International Mozarteum Foundation",
    ),
    PracticeFact("Beethoven was born before Mozart.", is_true=False, source="1770 and 1756: Beethoven House, Bonn"),
    PracticeFact(
        "Sound is slower in water than in air.",
        is_true=False,
        source="About 1,500 and 340 metres per second: NOAA, Ocean Service",
    ),
    PracticeFact(
        "The Pacific Ocean covers a larger area than all land on Earth together.",
        is_true=True,
        source="About 165 and 149 million square kilometres: NOAA",
    ),
    PracticeFact(
        "Canada has the longest coast of all countries.",
        is_true=True,
        source="202,080 kilometres: CIA World Factbook, “Coastline”",
    ),
    PracticeFact(
        "The Moon is on average less than 300,000 kilometres away from the Earth.",
        is_true=False,
        source="384,400 kilometres: NASA, Moon Fact Sheet",
    ),
    PracticeFact(
        "The Berlin Wall was opened in 1991.", is_true=False, source="On 9 November 1989: Berlin Wall Foundation"
    ),
    PracticeFact(
        "Marie Curie received two Nobel Prizes.",
        is_true=True,
        source="Physics in 1903, chemistry in 1911: nobelprize.org",
    ),
    PracticeFact(
        "Albert Einstein received his Nobel Prize for the theory of relativity.",
        is_true=False,
        source="Above all for the law of the photoelectric effect: nobelprize.org",
    ),
    PracticeFact(
        "101 is a prime number.", is_true=True, source="Neither 2, 3, 5 nor 7 divides it, and 11 times 11 is larger"
    ),
    PracticeFact("2 to the power of 20 is more than one million.", is_true=True, source="1,048,576, by arithmetic"),
    PracticeFact(
        "Among 23 people, with all days equally likely, it is likelier than not that two share a birthday.",
        is_true=True,
        source="50.7 per cent, by arithmetic: 1 less 365/365 times 364/365 and so on down to 343/365",
    ),
    PracticeFact(
        "The whole numbers from 1 to 100 add up to 5,500.",
        is_true=False,
        source="5,050, by arithmetic: 50 pairs that make 101",
    ),
    PracticeFact(
        "The Charter of the United Nations was signed in San Francisco.",
        is_true=True,
        source="On 26 June 1945: United Nations",
    ),
    PracticeFact(
        "The International Date Line runs for the most part through the Atlantic Ocean.",
        is_true=False,
        source="Through the Pacific, near the 180th meridian: NOAA, Ocean Service",
    ),
    PracticeFact("An octopus has three hearts.", is_true=True, source="Smithsonian Ocean, “Cephalopods”"),
    PracticeFact("Spiders have six legs.", is_true=False, source="Eight: American Museum of Natural History"),
    PracticeFact(
        "The Danube flows into the Adriatic Sea.",
        is_true=False,
        source="Into the Black Sea: International Commission for the Protection of the Danube River",
    ),
    PracticeFact(
        "Lake Baikal is deeper than 1,500 metres.",
        is_true=True,
        source="1,642 metres: UNESCO World Heritage Centre, “Lake Baikal”",
    ),
    PracticeFact(
        "In Egypt the Nile flows from north to south.",
        is_true=False,
        source="From south to north, into the Mediterranean: Encyclopaedia Britannica, “Nile River”",
    ),
    PracticeFact(
        "Reykjavik lies farther north than Helsinki.", is_true=True, source="64.1 and 60.2 degrees north: any atlas"
    ),
    PracticeFact(
        "New York City lies farther north than Rome.", is_true=False, source="40.7 and 41.9 degrees north: any atlas"
    ),
    PracticeFact(
        "Gutenberg printed his Bible after Columbus had first crossed the Atlantic.",
        is_true=False,
        source="In the 1450s, and in 1492: Gutenberg Museum, Mainz",
    ),
    PracticeFact(
        "The first people on the Moon landed there in 1969.", is_true=True, source="On 20 July 1969, Apollo 11: NASA"
    ),
    PracticeFact(
        "Diamond and graphite consist of the same chemical element.",
        is_true=True,
        source="Carbon: Royal Society of Chemistry, Periodic Table",
    ),
    PracticeFact(
        "Water boils at a lower temperature on Mount Everest than at the sea.",
        is_true=True,
        source="At about 70 degrees Celsius, as the pressure of the air is lower: steam tables of the IAPWS",
    ),
    PracticeFact("The human heart has three chambers.", is_true=False, source="Four: Gray’s Anatomy"),
)
"""In sets of ten, each with true and false ones; a fact keeps its number, so new ones come at the end."""
