"""What is told of a result with many components is read once, not once for each of them."""

import pytest

import coherently as co
from coherently.events import Events


@pytest.mark.parametrize("tell", [lambda _, result: result.to_json(), co.verify], ids=["to_json", "verify"])
def test_names_of_variables_are_read_a_few_times_however_many_components(tell, monkeypatch):
    calls = 0
    read = Events.written_variables.fget

    def counted(self):
        nonlocal calls
        calls += 1
        return read(self)

    monkeypatch.setattr(Events, "written_variables", property(counted))
    panel = co.Panel.from_records([("Ann", f"p{k}", 0.5) for k in range(40)])
    tell(panel, co.aggregate(panel, "exact"))
    assert 0 < calls < 10
