"""Our own renderings of prompt formats that a model's config can name, for models that bring no template.

Each is made after the template that the makers of the model published, and is tested against it. A name that is not
here has no published template that we could hold a rendering against, or one that cannot be told without the sentences
it puts into every prompt (`cohere`).
"""

from collections.abc import Mapping
from types import MappingProxyType

from sotto.engine.renderers.base import Renderer
from sotto.engine.renderers.chatml import ChatML, Cogito, Lfm2, Lfm2Thinking, Nemotron3, Qwen35
from sotto.engine.renderers.laguna import Laguna, Poolside
from sotto.engine.renderers.tagged import DeepSeek31, Gemma4, Glimmer, Glm47

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
        "qwen3-coder": ChatML(),
        "qwen3.5": Qwen35(),
    }
)
