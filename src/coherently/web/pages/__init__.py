"""The pages of the workbench, rendered on the server; every form works without script.

A page calls the same operations as the REST API, and scripts on it only save a round trip.
"""

from coherently.web.pages.routes import page_routes
from coherently.web.pages.visits import refused_page

__all__ = ["page_routes", "refused_page"]
