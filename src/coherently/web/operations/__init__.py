"""What can be done at the workbench, as plain functions; the pages and the REST API call the same ones.

Each takes the `Workbench`, who is asking, and values; each returns a value of `coherently.web.shapes`, or raises a
`RefusedError` or another `CoherentlyError`. None of them knows HTTP.
"""
