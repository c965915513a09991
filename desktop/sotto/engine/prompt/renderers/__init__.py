"""Built-in renderers of prompt formats, for models whose config names a format instead of bringing a template.

Each is written after the template that the model's makers published, and tested against it with thoughts, tools, calls
and their results. A name that is not here gets plain prompts, with a note to the user:

- `cohere`: its template puts sentences of the makers into every prompt, which differ between models;
- `functiongemma`, `glm-ocr`, `nemotron-3.5-nano`, `olmo3`, `olmo3.1`, `olmo3-think`, `olmo3-32b-think`, `ornith`,
  `qwen3.8`, `qwen3-vl-instruct`, `qwen3-vl-thinking`: there is no published template to test a renderer against, and a
  name that resembles a known one does not prove that the format is the same.
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
