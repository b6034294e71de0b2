"""Random requests made from the schema: none is a fault, and every answer is as the schema says."""

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded

from tests.web.api.service import API, Service, Weather

STREAMS = ("/panels/{panel}/stream", "/sheet/stream")
"""Answers that do not end."""


def check_api(store_url, seed, requests):
    """Send about so many requests, spread over all operations; the number sent is returned."""
    import schemathesis  # it does not fit the oldest versions that users may have

    with Service(store_url) as service:
        weather = Weather(service)
        weather.say(weather.ann, rain=0.7, wind=0.2, rain_wind=0.4)
        weather.say(weather.bob, rain=0.6)
        weather.close()
        known = _known(weather)
        schema = schemathesis.openapi.from_url(f"{service.url}{API}/openapi.json", timeout=600)
        operations = [each.ok() for each in schema.get_all_operations()]
        operations = [each for each in operations if each.path not in STREAMS]
        each = -(-requests // len(operations))
        return sum(_check(operation, weather, known, seed, each) for operation in operations)


def _rules():
    from schemathesis import checks as rules
    from schemathesis.specs.openapi import checks as kept

    return (
        rules.not_a_server_error,
        kept.status_code_conformance,
        kept.content_type_conformance,
        kept.response_headers_conformance,
        kept.response_schema_conformance,
    )


def _known(weather):
    """Ids that exist, by the name of the parameter."""
    version = weather.aggregate().rsplit("/", 1)[1]
    weather.api.post(f"{weather.path}/rounds", json={"phase": "revision"}).raise_for_status()
    reason = {"answers": [{"event": weather.events["rain"], "probability": 0.6, "reason": "Clouds."}]}
    weather.bob.post("/sheet/answers", json=reason).raise_for_status()
    comment = weather.api.post(f"{weather.path}/comments", json={"text": "Dark."}).json()["id"]
    voice = weather.api.get(f"{weather.path}/reasons").json()["reasons"][0]["key"]
    law = weather.api.post(f"{weather.path}/laws", json={"statement": "storm -> wind"}).json()["id"]
    token = weather.api.post("/tokens", json={"name": "spare"}).json()["id"]
    question = weather.api.get(f"{weather.path}/questions").json()["questions"][0]["id"]
    spare = weather.service.judge(weather.api, weather.id, "Cid")[1]["id"]
    return {
        "panel": weather.id,
        "question": question,
        "law": law,
        "judge": spare,
        "aggregation": version,
        "token": token,
        "comment": comment,
        "reason": voice,
    }


def _check(operation, weather, known, seed, count):
    sent = 0
    rules = _rules()
    judge = operation.path.startswith("/sheet")
    authorization = (weather.ann if judge else weather.api).headers["Authorization"]
    spare = operation.method.upper() == "DELETE" and operation.path == "/panels/{panel}"

    @seeded(seed)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=False,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def run(case):
        nonlocal sent
        sent += 1
        if case.path_parameters and not spare and sent % 3:
            case.path_parameters = {name: known.get(name, value) for name, value in case.path_parameters.items()}
        response = case.call(headers={"Authorization": authorization}, timeout=600)
        case.validate_response(response, checks=rules)

    run()
    return sent
