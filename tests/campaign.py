"""The checks at full size: `make campaign`. `make test` runs a slice of each."""

import time
from concurrent.futures import ProcessPoolExecutor

from tests.events import checks

PARTS = 20


def events_agree(part):
    return checks.check_agreement(1000 + part, 200_000 // PARTS)


def events_round_trip(part):
    checks.check_round_trip(2000 + part, 100_000 // PARTS)


def events_survive(part):
    checks.check_survival(3000 + part, 1_000_000 // PARTS)


CAMPAIGNS = {
    "200,000 texts against the Lark grammar": events_agree,
    "100,000 expressions parsed, printed and parsed again": events_round_trip,
    "1,000,000 random or mutated texts without a crash": events_survive,
}


def main():
    with ProcessPoolExecutor() as pool:
        for name, run in CAMPAIGNS.items():
            begun = time.perf_counter()
            list(pool.map(run, range(PARTS)))
            print(f"{name}: passed in {time.perf_counter() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
