"""The REST API below /api/v1: routes, models and refusals; thin over `coherently.web.operations`."""
