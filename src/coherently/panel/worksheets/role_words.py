"""What people call the columns of a table, in English, German, French, Spanish and Italian."""

from __future__ import annotations

import re
import unicodedata

from coherently.panel.layout import QUOTE_PAIRS, ROLES

WORDS = {
    "event": """
        event, events, question, questions, event id, risk, risks, scenario, statement, proposition, claim, hypothesis,
        hazard, threat, market, ticker, market ticker, contract, symbol, item, description, topic, assertion, title
        ereignis, ereignisse, risiko, risiken, frage, fragen, szenario, aussage, behauptung, beschreibung, thema, gefahr
        evenement, evenements, risque, risques, enonce, affirmation, intitule, danger
        evento, eventos, riesgo, riesgos, pregunta, preguntas, escenario, afirmacion, enunciado, descripcion, peligro
        eventi, rischio, rischi, domanda, domande, affermazione, ipotesi, descrizione, pericolo
    """,
    "judge": """
        judge, judges, forecaster, user, model, judge id, expert, respondent, participant, analyst, rater, panelist,
        panellist, assessor, estimator, forecaster id, user id, model name, venue, bookmaker, agent, interviewee
        experte, expertin, experten, person, befragte, befragter, teilnehmer, teilnehmerin, gutachter, gutachterin,
        schaetzer, schatzer, bewerter, urteiler, mitarbeiter
        experts, repondant, repondante, participante, juge, evaluateur, personne, previsionniste, prevision de
        experto, experta, juez, encuestado, encuestada, evaluador, persona, pronosticador
        esperto, esperta, giudice, partecipante, valutatore, intervistato
    """,
    "probability": """
        probability, p, prob, forecast, probability yes, p yes, pyes, prob yes, likelihood, chance, estimate, percent,
        percentage, per cent, prediction, price, credence, confidence, yes price
        wahrscheinlichkeit, eintrittswahrscheinlichkeit, wkt, wsk, wahrsch, schaetzung, schatzung, prognose, prozent
        probabilite, proba, estimation, prevision, pourcentage, vraisemblance
        probabilidad, estimacion, pronostico, porcentaje
        probabilita, stima, previsione, percentuale
    """,
    "weight": "weight, weights, weighting, gewicht, gewichtung, poids, ponderation, peso, ponderacion, ponderazione",
    "lower": """
        lower, low, min, minimum, lower bound, lower limit, bid, best bid, yes bid, bid price
        untergrenze, unterer wert, minimal
        borne inferieure, limite inferieure
        limite inferior, inferior, minimo
        limite inferiore, inferiore
    """,
    "upper": """
        upper, high, max, maximum, upper bound, upper limit, ask, best ask, yes ask, ask price, offer
        obergrenze, oberer wert, maximal
        borne superieure, limite superieure
        limite superior, superior, maximo
        limite superiore, superiore
    """,
    "outcome": """
        outcome, resolution, answer, resolved, came true, happened, realised, realized, result
        ergebnis, eingetreten, ausgang, eingetroffen
        resultat, realise, survenu, issue
        resultado, ocurrio, sucedio
        esito, risultato, avvenuto
    """,
    "time": """
        time, date, timestamp, datetime, day, updated, created at
        datum, zeit, zeitpunkt, tag
        heure, horodatage
        fecha, hora, momento
        data, ora
    """,
    "comment": """
        comment, comments, note, notes, remark, remarks, reason, reasons, rationale, justification, explanation, why
        kommentar, kommentare, bemerkung, bemerkungen, anmerkung, anmerkungen, begruendung, begrundung, notiz, grund
        commentaire, commentaires, remarque, remarques, raison, motif
        comentario, comentarios, nota, notas, motivo, razon, justificacion, observaciones
        commento, commenti, osservazioni, motivazione, motivo, giustificazione
    """,
    "odds": """
        odds, decimal odds, fractional odds, american odds, moneyline, price decimal
        quote, quoten, wettquote
        cote, cotes
        cuota, cuotas
        quota, quote decimali
    """,
    "size": """
        size, sizes, volume, quantity, depth, bid size, ask size, yes bid size, yes ask size, liquidity, open interest,
        volume 24h, contracts, stake
        menge, volumen, umsatz, quantite, cantidad, volumen, quantita
    """,
    "fee": "fee, fees, commission, taker fee, maker fee, gebuehr, gebuhr, frais, comision, commissione, tariffa",
    "other": """
        id, no, nr, number, key, code, ref, row, index, category, department, owner, status, group, area, unit, impact,
        last price, last, previous price, mid, mid price, spread, no bid, no ask, no price, yes, expiry, close time, url
        kategorie, abteilung, verantwortlich, bereich, gruppe, auswirkung, schaden, numero, categorie, service, impact,
        categoria, responsable, departamento, responsabile, reparto, gruppo, impatto
    """,
}
"""Names of columns by their roles, without accents and in small letters; "other" plays no role."""

SUMMARIES = {
    "mean": """mean, average, avg, consensus, mittel, mittelwert, durchschnitt, schnitt, moyenne, promedio, media,
        mean value, group mean, team average, overall, gesamt, ensemble, arithmetic mean""",
    "median": "median, mediane, mediana, zentralwert",
    "sum": "sum, total, totals, summe, gesamtsumme, somme, suma, somma, totale, totaux, check, control, kontrolle",
    "spread": """standard deviation, std, stdev, std dev, sd, variance, range, standardabweichung, streuung, varianz,
        spannweite, ecart type, desviacion, deviazione standard, count, anzahl""",
    "extreme": "min, max, minimum, maximum, lowest, highest",
}
"""Names of columns and rows that sum up others."""


def listed_words(text: str) -> list[str]:
    r"""The words of a list with commas and lines.

    >>> listed_words("low, min\n  best bid")
    ['low', 'min', 'best bid']
    """
    return [word.strip() for line in text.splitlines() for word in line.split(",") if word.strip()]


def _table(words: dict[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for role, listed in words.items():
        for word in listed_words(listed):
            found.setdefault(word, role)
    return found


def spelt(header: str) -> str:
    """A header without accents, capitals, signs and what stands in brackets.

    >>> spelt("Wahrscheinlichkeit (in %)"), spelt("yes_bid"), spelt("Évènement:"), spelt("W'keit")
    ('wahrscheinlichkeit', 'yes bid', 'evenement', 'w keit')
    """
    bare = re.sub(r"[(\[{].*?[)\]}]", " ", header)
    split = unicodedata.normalize("NFKD", bare.replace("ß", "ss"))
    letters = "".join(character for character in split if not unicodedata.combining(character))
    return " ".join(re.sub(r"[\W_]+", " ", letters).lower().split())


ROLE_OF = {
    **_table(WORDS),
    **{spelt(name): role for role, names in ROLES.items() for name in names},
    **{spelt(low): "lower" for low, _ in QUOTE_PAIRS},
    **{spelt(high): "upper" for _, high in QUOTE_PAIRS},
}
"""The role of each known name of a column; what `layout` accepts is accepted here."""
SUMMARY_OF = _table(SUMMARIES)
SIGNS = {"Ø": "mean", "⌀": "mean", "μ": "mean", "Σ": "sum", "∑": "sum"}
EITHER = frozenset({"name", "names", "nom", "nombre", "nome"})
"""Names of columns that may have the names of judges or of events."""
PERCENT_HEADER = re.compile(r"%|\bin per ?cent\b|\bin prozent\b|\ben pour ?cent\b|\bpercent(?:age)?\b", re.IGNORECASE)


def role_of(header: str) -> str | None:
    """The role that the name of a column says, if any.

    >>> role_of("Ereignis"), role_of("Probabilité (%)"), role_of("best_ask"), role_of("Alice")
    ('event', 'probability', 'upper', None)
    """
    return ROLE_OF.get(spelt(header))


def summary_of(name: str) -> str | None:
    """What a row or a column of this name sums up, if it does.

    >>> summary_of("Mittelwert"), summary_of("Group mean"), summary_of("Ø"), summary_of("Meanwell")
    ('mean', 'mean', 'mean', None)
    """
    return SIGNS.get(name.strip()) or SUMMARY_OF.get(spelt(name))


def says_percent(header: str) -> bool:
    """Whether the name of a column says that its numbers are per cent.

    >>> says_percent("Ann (%)"), says_percent("Probability in percent"), says_percent("Ann")
    (True, True, False)
    """
    return PERCENT_HEADER.search(header) is not None
