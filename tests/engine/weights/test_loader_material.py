"""Real weights: those of a folder, and of every tag in a store that Ollama wrote."""

import json

import mlx.core as mx
import pytest
from tokenizers import Tokenizer

from checkpoints import (
    TYPES,
    read_header,
    source_of,
)
from loading import (
    load,
)
from material import material
from sotto.engine.architectures import zoo
from thoroughness import share, some


@pytest.fixture
def tokenizer():
    return Tokenizer.from_file(str(material("stories260k", "tokenizer.json")))


@pytest.fixture
def stories():
    return json.loads(material("stories260k", "expected.json").read_text(encoding="utf-8"))


class TestRealModels:
    @staticmethod
    def tokens(model, prompt, steps):
        """Return the greedy continuation of BOS and a prompt, up to token 1 or 2."""
        from mlx_lm.models.cache import KVCache

        cache, sampled = [KVCache() for _ in model.layers], []
        following = mx.array([[1, *prompt]])
        while len(prompt) + len(sampled) < steps:
            token = int(mx.argmax(model(following, cache=cache)[0, -1]))
            if token in (1, 2):
                break
            sampled.append(token)
            following = mx.array([[token]])
        return sampled

    @staticmethod
    def tag(tag):
        """Open a tag of the store that Ollama wrote."""
        root = material("ollama-store")
        manifest = json.loads((root / "manifests/registry.ollama.ai/library/stories260k-mlx" / tag).read_text())
        files, config = [], {}
        for layer in manifest["layers"]:
            path = root / "blobs" / layer["digest"].replace(":", "-")
            if layer["mediaType"].endswith(".tensor"):
                files.append(read_header(path, layer["digest"]))
            elif layer.get("name") == "config.json":
                config = json.loads(path.read_text())
        return source_of(files, config)

    @pytest.mark.parametrize("where", ["folder", "store"])
    def test_a_plain_model_writes_the_expected_stories(self, where, tokenizer, stories):
        folder = material("stories260k")
        if where == "store":
            source = self.tag("latest")
        else:
            config = json.loads((folder / "config.json").read_text())
            source = source_of([read_header(folder / "model.safetensors")], config)
        model = load(source).model
        for story in stories:
            prompt = tokenizer.encode(story["prompt"], add_special_tokens=False).ids
            sampled = self.tokens(model, prompt, story["steps"])
            assert tokenizer.decode(prompt + sampled) == story["text"]

    @pytest.mark.one_in(3)
    @pytest.mark.parametrize("kind", some(TYPES, 3))
    def test_a_quantized_model_writes_the_same_as_its_dequantized_weights(self, kind, tokenizer, stories):
        source = self.tag(kind)
        quantized = load(source)
        assert any(hasattr(layer, "bits") for _, layer in quantized.model.named_modules())
        dequantized = {}
        for file in source.tensor_files:
            tensors = mx.load(str(file.path), format="safetensors")
            for name in [name for name in tensors if name.endswith(".weight")]:
                if (scales := tensors.get(f"{name}.scale")) is None:
                    dequantized[name] = tensors[name]
                else:
                    mode, bits, group_size = TYPES[file.metadata["quant_type"]]
                    dequantized[name] = mx.dequantize(
                        tensors[name],
                        scales,
                        tensors.get(f"{name}.bias"),
                        mode=mode,
                        bits=bits,
                        group_size=group_size,
                    ).astype(mx.float32)
        reference, _ = zoo.build(source.config)
        reference.load_weights(list(dequantized.items()), strict=True)
        for story in stories[: share(len(stories), 2)]:
            prompt = tokenizer.encode(story["prompt"], add_special_tokens=False).ids
            answer = self.tokens(quantized.model, prompt, story["steps"])
            assert answer == self.tokens(reference, prompt, story["steps"])
            whole = mx.array([[1, *prompt, *answer]])
            difference = mx.abs(quantized.model(whole) - reference(whole)).max().item()
            assert difference < 1e-3

    def test_a_recurrent_model_gives_the_logits_of_its_authors_program(self):
        folder = material("rwkv7-tiny")
        config = json.loads((folder / "config.json").read_text())
        loaded = load(source_of([read_header(folder / "model.safetensors")], config))
        expected = mx.array(memoryview((folder / "expected-logits.bin").read_bytes()).cast("f"))
        logits = loaded.model(mx.array([list(b'"in')]), cache=loaded.model.make_cache())[0, -1]
        assert mx.abs(logits - expected).max().item() < 2e-3
        assert mx.argmax(logits).item() == mx.argmax(expected).item()
