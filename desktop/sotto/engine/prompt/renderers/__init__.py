"""Prompt formats that a model's config can name, for models without a template.

Each is made after the template that the makers of the model published, and is tested against it: with thoughts, tools,
calls and what came of them. A name that is not here makes plain prompts, of which the user is told:

- `cohere`: its template puts sentences of the makers into every prompt, which differ from model to model;
- `functiongemma`, `glm-ocr`, `nemotron-3.5-nano`, `olmo3`, `olmo3.1`, `olmo3-think`, `olmo3-32b-think`, `ornith`,
  `qwen3.8`, `qwen3-vl-instruct`, `qwen3-vl-thinking`: there is no published template that we could hold a rendering
  against, and a name that is like that of a known format does not show that the format is.
"""

from collections.abc import Mapping
from types import MappingProxyType

from sotto.engine.prompt.renderers.base import Renderer
from sotto.engine.prompt.renderers.chatml import Cogito, Nemotron3, Qwen3Coder, Qwen35
from sotto.engine.prompt.renderers.gemma import Gemma4
from sotto.engine.prompt.renderers.glimmer import Glimmer
from sotto.engine.prompt.renderers.laguna import Laguna, Poolside
from sotto.engine.prompt.renderers.lfm2 import Lfm2, Lfm2Thinking
from sotto.engine.prompt.renderers.tagged import DeepSeek31, Glm47

# Ollama's import names `deepseek3`, for which it has no renderer itself.
RENDERERS: Mapping[str, Renderer] = MappingProxyType(
    {
        "cogito": Cogito(),
        "deepseek3": DeepSeek31(),
        "deepseek3.1": DeepSeek31(),
        "gemma4": Gemma4(large=False),
        "gemma4-large": Gemma4(large=True),
        "gemma4-small": Gemma4(large=False),
        "glimmer": Glimmer(),
        "glm-4.7": Glm47(),
        "laguna": Laguna(),
        "lfm2": Lfm2(),
        "lfm2-thinking": Lfm2Thinking(),
        "nemotron-3-nano": Nemotron3(),
        "poolside-v1": Poolside(),
        "qwen3-coder": Qwen3Coder(),
        "qwen3.5": Qwen35(),
    }
)
