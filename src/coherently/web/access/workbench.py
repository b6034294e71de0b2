"""The workbench as what operations are given: the store, the settings, and who failed to get in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coherently.web.access.desk_crew import InlineDesk
from coherently.web.access.rates import Buckets

if TYPE_CHECKING:
    from coherently.web.access.desk_crew import Desk
    from coherently.web.settings import ServiceSettings
    from coherently.web.store import Store


@dataclass(frozen=True, slots=True)
class Workbench:
    """A store and how it is served; `failures` counts wrong passwords, links and tokens by address.

    `desk` is where it is worked out what answers mean.
    """

    store: Store
    settings: ServiceSettings
    desk: Desk = field(default_factory=InlineDesk)
    failures: Buckets = field(init=False)

    def __post_init__(self) -> None:
        most = self.settings.limits.failures
        object.__setattr__(self, "failures", Buckets(most / 60.0, most))
