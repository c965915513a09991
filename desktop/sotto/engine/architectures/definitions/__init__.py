"""Model definitions of our own, in place of borrowed ones that compute something else than the model's makers do.

Each module has `Model` and `ModelArgs`, as the borrowed ones have, and builds on them; only encoders are not borrowed.
"""

from collections.abc import Mapping

# By model type: the module of this package.
OVERRIDES: Mapping[str, str] = {
    "bert": "bert",
    "camembert": "bert",
    "gemma": "gemma",
    "gemma2": "gemma2",
    "gemma3": "gemma3",
    "gemma3_text": "gemma3_text",
    "glm": "glm",
    "gpt_neox": "gpt_neox",
    "gpt_oss": "gpt_oss",
    "mistral": "mistral",
    "mixtral": "mixtral",
    "nomic_bert": "nomic_bert",
    "phi3": "phi3",
    "roberta": "bert",
    "starcoder2": "starcoder2",
    "xlm-roberta": "bert",
}
