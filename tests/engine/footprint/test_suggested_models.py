"""The models that Sotto suggests run here as they are described: by reference, template, parameters and memory."""

import json
from pathlib import Path

import pytest
from mlx import nn
from mlx.utils import tree_flatten

from material import ROOT, material
from sotto.engine.architectures import zoo
from sotto.engine.config.supported_models import refusal
from sotto.engine.contract.requests import Message
from sotto.engine.footprint.model_needs import model_needs
from sotto.engine.kernels import device, native
from sotto.engine.memory.shape_needs import shape_needs
from sotto.engine.prompt.templates import ChatTemplate
from sotto.store.finding.suggestions import suggestions
from thoroughness import some

REFERENCES = Path(__file__).parents[1] / "references"
BY_TITLE = {suggestion.title: suggestion for suggestion in suggestions()}
ALL = list(BY_TITLE)
# Renderings of a template by Ollama, which are tests, too.
GO = ROOT / "go-templates" / "renders.json"


def referenced_types():
    configs = (json.loads(path.read_text(encoding="utf-8")) for path in REFERENCES.glob("*/config.json"))
    return {config["model_type"] for config in configs}


@pytest.mark.parametrize("title", ALL)
def test_its_architecture_is_supported_and_has_a_reference(title):
    config = BY_TITLE[title].config
    assert refusal(config) == ""
    assert config["model_type"] in referenced_types()


@pytest.mark.parametrize("title", ALL)
def test_its_template_is_one_that_is_tested(title):
    material("chat-templates")
    recorded = json.loads(GO.read_text(encoding="utf-8"))["models"]
    for name in BY_TITLE[title].templates:
        if name in recorded:
            assert recorded[name]["renders"]
            continue
        text = (ROOT / "chat-templates" / f"{name}.jinja").read_text(encoding="utf-8")
        template = ChatTemplate(text, {"bos_token": "<s>", "eos_token": "</s>"})
        assert "What is 2 + 2?" in template.render((Message("user", "What is 2 + 2?"),))


@pytest.mark.parametrize("title", ALL)
def test_it_has_as_many_parameters_as_is_said(title):
    suggestion = BY_TITLE[title]
    model, _ = zoo.build(suggestion.config)
    tied = suggestion.config.get("tie_word_embeddings")
    # Definitions that can do without it have the matrix for the output nevertheless.
    counted = (
        array.size for name, array in tree_flatten(model.parameters()) if not (tied and name.startswith("lm_head"))
    )
    assert sum(counted) == suggestion.parameters


@pytest.mark.one_in(7)
@pytest.mark.parametrize("title", some(ALL, 5))
def test_its_needs_are_those_of_the_model_itself(title):
    """The caches are the same to the byte; with the work memory, which is estimated, the whole is a little more."""
    config = BY_TITLE[title].config
    longest = config["max_position_embeddings"]
    model, normalised = zoo.build(config)
    nn.quantize(model, 64, 4)
    arrays = [array for _, array in tree_flatten(model.parameters())]
    weights = sum(array.nbytes for array in arrays)
    largest = max(array.nbytes for array in arrays)
    traced = model_needs(model, normalised, weights, largest, longest, native.kernels())
    computed = shape_needs(config, weights, 4 if device.device() == "cpu" else 2)
    assert computed.longest_context == longest
    for context in sorted({1, 512, 4096, min(32_768, longest), longest}):
        if context <= longest:
            assert computed.cache_bytes(context) == traced.cache_bytes(context)
            for chunk in (512, 2048):
                if chunk <= context:
                    whole = weights + traced.cache_bytes(context) + traced.work_bytes(context, chunk)
                    mine = weights + computed.cache_bytes(context) + computed.work_bytes(context, chunk)
                    assert 0.98 * whole <= mine <= 1.3 * whole, (context, chunk)


@pytest.mark.parametrize("folder", sorted(path.name for path in REFERENCES.iterdir() if path.is_dir()))
def test_the_caches_of_references_are_right_or_unknown(folder):
    config = json.loads((REFERENCES / folder / "config.json").read_text(encoding="utf-8"))
    computed = shape_needs(config, 1, 4)
    if computed.layers is None:
        assert computed.unknown
        return
    model, normalised = zoo.build(config)
    traced = model_needs(model, normalised, 1, 1, 128, native.kernels())
    if device.device() == "cpu":
        assert [traced.cache_bytes(context) for context in (1, 60, 128)] == [
            computed.cache_bytes(context) for context in (1, 60, 128)
        ]
