"""The checks at full size: `make campaign`. `make test` runs a slice of each."""

import contextlib
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor

from tests.browser import page_checks
from tests.events import checks
from tests.explain import check_checks, explanation_checks, question_checks, relation_checks
from tests.explain.bets import book_checks
from tests.explain.judge_sheet import sheet_checks
from tests.live import live_checks, log_checks
from tests.network import network_checks
from tests.proofcheck import attack_checks, proof_cases, reader_checks
from tests.scoring import consistency_checks, coverage_checks, gain_checks, interval_checks, monitor_checks
from tests.solve import count_checks, exact_checks, law_checks, structure_checks
from tests.verifier import tampering
from tests.web import postgres
from tests.web.api import api_checks, clock_checks, privacy_checks, two_server_checks, upgrade_checks
from tests.web.server_process import serving
from tests.web.store import load_checks
from tests.whole import (
    declared_checks,
    language_checks,
    loss_checks,
    outcome_checks,
    table_checks,
    user_loss_checks,
)
from tests.whole import relation_checks as answer_relations

PARTS = 20


def events_agree(part):
    return checks.check_agreement(1000 + part, 200_000 // PARTS)


def events_round_trip(part):
    checks.check_round_trip(2000 + part, 100_000 // PARTS)


def events_survive(part):
    checks.check_survival(3000 + part, 1_000_000 // PARTS)


def exact_agrees(part):
    return f"{exact_checks.check_agreement(4000 + part, 10_000 // PARTS):.1e}"


def exact_routes(part):
    exact_checks.check_routes(5000 + part, 500 // PARTS)


def tampering_is_found_out(part):
    tampering.check_tampering(6000 + part, 20_000 // PARTS)


def panels_are_proved(part):
    return f"{proof_cases.check_proofs(60_000 + part, 2_000 // PARTS):.1e}"


def proofs_are_not_forged(part):
    attack_checks.check_trees(61_000 + part, 10_000 // PARTS)
    attack_checks.check_changes(62_000 + part, 20_000 // PARTS)


def readers_agree(part):
    reader_checks.check_reader(63_000 + part, 100_000 // PARTS)


def laws_agree(part):
    law_checks.check_recoding(9000 + part, 500 // PARTS)
    return f"{law_checks.check_laws_agree(8000 + part, 5_000 // PARTS):.1e}"


def counts_agree(part):
    return f"{count_checks.check_counts(20_000 + part * 1_000, 20_000 // PARTS):.1e}"


def many_counts_are_proved(part):
    size = 500 // PARTS
    return str(size - count_checks.check_many_counts(40_000 + part * 1_000, size))


def exclusive_values_agree(part):
    return f"{structure_checks.check_structure('exclusive', 18_000 + part, 20_000 // PARTS):.1e}"


def orders_agree(part):
    return f"{structure_checks.check_structure('ordered', 19_000 + part, 20_000 // PARTS):.1e}"


def ladders_agree(part):
    return f"{structure_checks.check_structure('ladder', 20_000 + part, 20_000 // PARTS):.1e}"


def bins_agree(part):
    return f"{structure_checks.check_structure('bins', 21_000 + part, 20_000 // PARTS):.1e}"


def tied_structures_agree(part):
    return f"{structure_checks.check_structure('tied', 23_000 + part, 20_000 // PARTS):.1e}"


def limited_values_agree(part):
    return f"{structure_checks.check_limited(24_000 + part, 20_000 // PARTS):.1e}"


def shares_agree(part):
    found = table_checks.check_shares(7_000_000 + part * 1_000, 20_000 // PARTS)
    return f"{found['left'] / found.total():.2f}"


def structures_are_not_made_up(part):
    structure_checks.check_near_misses(22_000 + part, 20_000 // PARTS)


def relations_agree(part):
    relation_checks.check_relations(100 + part, 2_000 // PARTS)
    relation_checks.check_violated(100 + part, 2_000 // PARTS)


def explanations_agree(part):
    explanation_checks.check_explanations(100 + part, 500 // PARTS)


def sheets_miss_nothing(part):
    return str(sheet_checks.check_sheets(24_000 + part, 1_000 // PARTS))


def questions_agree(part):
    widths = question_checks.check_widths(70_000 + part, 400 // PARTS)
    return f"{max(widths, question_checks.check_contradictions(71_000 + part, 2_000 // PARTS)):.1e}"


def time_limits(part):
    return f"{exact_checks.check_time_limits(7000 + part, 200 // PARTS):.2f}"


def arbitrage_is_kl(part):
    checks = ("Neg", "And", "Or", "AndOr", "Cond")
    return f"{consistency_checks.check_arbitrage(8000 + part, 1_000 // PARTS, checks):.1e}"


def declared_agree(part):
    return f"{declared_checks.check_declared(9000 + part, 5_000 // PARTS):.1e}"


def losses_agree(part):
    return str(loss_checks.check_losses(1_000_000 + part * 1_000, 20_000 // PARTS)["unproved"])


def tables_agree(part):
    found = table_checks.check_table(6_000_000 + part * 1_000, 20_000 // PARTS)
    return f"{found['left'] / found.total():.2f}"


def losses_agree_one_by_one(part):
    return str(loss_checks.check_losses_one_by_one(2_000_000 + part * 1_000, 20_000 // PARTS)["unproved"])


def losses_agree_by_search(part):
    return str(loss_checks.check_losses_by_search(3_000_000 + part * 1_000, 10_000 // PARTS)["unproved"])


def losses_agree_by_cliques(part):
    return str(loss_checks.check_losses_by_cliques(4_000_000 + part * 1_000, 10_000 // PARTS)["unproved"])


def user_losses_agree(part):
    return str(user_loss_checks.check_user_losses(5_000_000 + part * 1_000, 2_000 // PARTS)["no reference"])


def language_agrees(part):
    language_checks.check_language(10_000 + part, 5_000 // PARTS)


def answers_keep_relations(part):
    for relation in answer_relations.RELATIONS:
        answer_relations.check_relation(relation, 25_000 + part, 10_000 // PARTS)


def outcomes_agree(part):
    outcome_checks.check_outcomes(17_000 + part, 5_000 // PARTS)


def books_agree(part):
    book_checks.check_books(11_000 + part, 2_000 // PARTS)


def checks_agree(part):
    check_checks.check_checks(12_000 + part, 2_000 // PARTS)


def live_revisions(part):
    return f"{live_checks.check_revisions(13_000 + part, 10_000, groups=40, every=1_000, terms=False):.1e}"


def live_terms(part):
    live_checks.check_revisions(14_000 + part, 250, groups=4, every=25)


def kills_lose_nothing(part):
    log_checks.check_kills(15_000 + part, 200 // PARTS)


@contextlib.contextmanager
def _store_of(part, *, durable=False):
    """The address of an empty store: half of the parts are on each kind."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        if part % 2:
            yield stack.enter_context(contextlib.closing(postgres.Server(durable=durable))).new_database()
        else:
            yield f"sqlite:///{folder}/store.db"


def requests_are_answered(part):
    with _store_of(part) as url:
        api_checks.check_api(url, 16_000 + part, 50_000 // PARTS)


def submissions_count_once(part):
    """Each store has the machine to itself: one part each."""
    if part == 0:
        with tempfile.TemporaryDirectory() as folder:
            load_checks.check_submissions(f"sqlite:///{folder}/store.db", 100, 100)
    if part == 1:
        load_checks.check_submissions_on_postgres(100, 100)


def kills_keep_submissions(part):
    with _store_of(part, durable=True) as url:
        load_checks.check_kills(16_000 + part, 500 // PARTS, url)


def clocks_are_set(part):
    with _store_of(part) as url:
        clock_checks.check_clock(url, 17_000 + part, 10_000 // PARTS)


def servers_are_as_one(part):
    with _store_of(part) as url, serving(url, url) as bases:
        two_server_checks.check_two_servers(url, bases, judges=5, each=800 // PARTS, seed=18_000 + part)


def upgrades_lose_nothing(part):
    if not upgrade_checks.has_history():
        return print("upgrades need servers of earlier schemas, which are made from the history of git: there is none")
    with _store_of(part) as url:
        schema = 3 + part // 2 % 3
        return str(upgrade_checks.check_upgrade(url, schema, 19_000 + part, answers=50, overlap=part % 5 == 4))


def numbers_are_private(part):
    with _store_of(part) as url:
        privacy_checks.check_privacy(url, 20_000 + part, 1_000 // PARTS)


def networks_agree(part):
    return f"{network_checks.check_runs(16_000 + part, 5_000 // PARTS):.1e}"


def intervals_cover(part):
    if part < len(coverage_checks.SETTINGS):
        return f"{coverage_checks.check_coverage(part):.1f}"
    return None


def gains_are_honest(part):
    if part < len(gain_checks.SETTINGS):
        return f"{gain_checks.check_gain(part):.1f}"
    return None


def monitors_keep_their_promise(part):
    return f"{monitor_checks.check_promise(17_000 + part, 10_000 // PARTS):.3f}"


def joint_scores_agree(part):
    return f"{consistency_checks.check_joint(20_000 + part, 10_000 // PARTS):.1e}"


def consistency_intervals_cover(part):
    return f"{interval_checks.check_coverage(18_000 + part, 10_000 // PARTS):.1f}"


def connected_intervals_cover(part):
    return f"{interval_checks.check_connected_coverage(19_000 + part, 1_000 // PARTS):.1f}"


def pages_agree(part):
    kinds = page_checks.check_in_browser(30_000 + part * 1_000, 10_000 // PARTS)
    return f"{kinds['partly answered'] * PARTS / 10_000:.3f}"


CAMPAIGNS = {
    "200,000 texts against the Lark grammar": events_agree,
    "100,000 expressions parsed, printed and parsed again": events_round_trip,
    "1,000,000 random or mutated texts without a crash": events_survive,
    "10,000 panels against a quadratic program over all worlds (largest difference)": exact_agrees,
    "500 larger panels by two routes, all verified": exact_routes,
    "20,000 edits of results, refused where they change what is claimed": tampering_is_found_out,
    "5,000 panels with laws and declared variables against enumeration (largest difference)": declared_agree,
    "1,000 tuples of each of five checks: arbitrage against its definition (largest difference)": arbitrage_is_kl,
    "5,000 panels under laws against a quadratic program over all worlds (largest difference)": laws_agree,
    "20,000 panels of counts under every loss against all worlds (largest difference of a probability)": counts_agree,
    "500 panels of counts over 17 to 60 variables, verified by another elimination (most without a proof in a "
    "twentieth)": many_counts_are_proved,
    "5,000 panels of the whole language: worlds, proofs, JSON, bounds, checks and books": language_agrees,
    "2,000 panels of the whole language under three losses, proved by the checker (largest difference of bounds)": (
        panels_are_proved
    ),
    "20,000 changes of proofs, and 10,000 trees that are made up: no bound above the least loss is accepted": (
        proofs_are_not_forged
    ),
    "100,000 texts: the checker's own reader against the Lark grammar": readers_agree,
    "10,000 panels for each of 16 relations between answers: renamed, permuted, doubled, split, negated, joined, by "
    "threads, engines, frames, live, over the web": answers_keep_relations,
    "5,000 panels with outcomes (entailed, contradictory, partial) against enumeration": outcomes_agree,
    "20,000 panels of exclusive values by their structure and by worlds (largest difference)": exclusive_values_agree,
    "20,000 panels of exclusive values with intervals and pins by one multiplier and by worlds (largest difference)": (
        limited_values_agree
    ),
    "20,000 panels of implications by their structure and by worlds (largest difference)": orders_agree,
    "20,000 ladders by their structure and by worlds (largest difference)": ladders_agree,
    "20,000 panels of bins, with laws between numbers, by levels and by worlds (largest difference)": bins_agree,
    "20,000 structures tied to other events, by the shares of all worlds and one by one (largest difference)": (
        tied_structures_agree
    ),
    "20,000 panels of few worlds by the shares of all worlds, against the table of components and a conic solver "
    "(largest part that is left to the general method)": shares_agree,
    "20,000 panels that almost have a structure: nothing is claimed but what worlds show": structures_are_not_made_up,
    "20,000 panels of every loss and term against a conic solver (most answers unproved in a twentieth)": losses_agree,
    "20,000 of these one by one, without the table of components (most answers unproved in a twentieth)": (
        losses_agree_one_by_one
    ),
    "20,000 panels of few worlds: the table of components against the general method and a conic solver (largest part "
    "that the table leaves to the general method)": tables_agree,
    "10,000 of these by the methods for many worlds (most answers unproved in a twentieth)": losses_agree_by_search,
    "10,000 of these over cliques of junction trees (most answers unproved in a twentieth)": losses_agree_by_cliques,
    "2,000 random losses of a user's own against a conic solver, and as many asymmetric ones refused (most without a "
    "reference in a twentieth)": user_losses_agree,
    "2,000 panels with bids, asks, fees and spreads: the best book against a linear program": books_agree,
    "2,000 panels, judge by judge: statuses, distances and least contradictions": checks_agree,
    "2,000 sheets and 2,000 panels with laws, conditionals and quotes: broken relations against loops": relations_agree,
    "500 random sheets: what a check and the workbench tell people, bands and repairs": explanations_agree,
    "1,000 random sheets against all worlds: no contradiction is missing or made up (most that contradict themselves "
    "in a twentieth)": sheets_miss_nothing,
    "400 panels and 2,000 contradictions: what to ask next against all worlds (largest difference)": questions_agree,
    "4,000 panels in each of 16 settings: coverage of 95% intervals (percent away from 95)": intervals_cover,
    "500 panels in each of 6 settings of noise, shuffled outcomes and common shocks: out-of-fold gains (most standard "
    "errors from the truth)": gains_are_honest,
    "10,000 streams of each of 4 kinds, with and without a rise: false alarms and missed means (largest share in a "
    "twentieth)": monitors_keep_their_promise,
    "10,000 judges with laws and conditionals: joint scores between two programs over all worlds (widest gap)": (
        joint_scores_agree
    ),
    "10,000 samples of 10, 30 and 100 clusters: coverage of intervals of consistency scores (percent below 95)": (
        consistency_intervals_cover
    ),
    "1,000 panels of 20, 40 and 80 variables that all hang together: the same over variables (percent below 95, in a "
    "twentieth)": connected_intervals_cover,
    "10,000 random revisions of each of 20 live panels against scratch (largest difference)": live_revisions,
    "250 revisions of each of 20 live panels with conditionals, intervals and pins against scratch": live_terms,
    "200 processes killed while they write the log of a live panel": kills_lose_nothing,
    "50,000 requests made from the schema of the workbench, on both stores: no fault, every answer as it says": (
        requests_are_answered
    ),
    "100 clients with 100 submissions each, some sent twice, on SQLite and on PostgreSQL": submissions_count_once,
    "500 processes killed while they write to the workbench's store, half on SQLite and half on PostgreSQL": (
        kills_keep_submissions
    ),
    "10,000 steps at the workbench while the clock is set forwards and back by up to 100 days, half on each store": (
        clocks_are_set
    ),
    "4,000 answers of judges who go to either of two servers on one store, while rounds begin and end, half on each "
    "store": servers_are_as_one,
    "20 upgrades from three earlier schemas, half on each store, while judges answer (most requests sent again in a "
    "twentieth)": upgrades_lose_nothing,
    "1,000 steps of judges, facilitators and others, half on each store: pages, calls, files and streams searched for "
    "numbers of open rounds with names": numbers_are_private,
    "5,000 networks under losses, repeats and restarts against loops in one place (largest difference)": networks_agree,
    "10,000 panels on the page that needs no installation, in Chromium, against Python (largest part in which it "
    "leaves something to the package)": pages_agree,
    "200 forced time limits (seconds past the limit and 10%)": time_limits,
}
ALONE = (time_limits, submissions_count_once)
"""What measures time has the machine to itself."""


def main():
    chosen = sys.argv[1:]
    for name, run in CAMPAIGNS.items():
        if chosen and run.__name__ not in chosen:
            continue
        begun = time.perf_counter()
        with ProcessPoolExecutor(1 if run in ALONE else None) as pool:
            noted = [note for note in pool.map(run, range(PARTS)) if isinstance(note, str)]
        worst = f"; worst {max(noted, key=float)}" if noted else ""
        print(f"{name}: passed in {time.perf_counter() - begun:.0f} s{worst}", flush=True)


if __name__ == "__main__":
    main()
