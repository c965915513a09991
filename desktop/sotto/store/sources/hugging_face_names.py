"""The names under which models are downloaded: those of a registry, and those of Hugging Face.

Hugging Face's are written as `hf.co/ORG/NAME`, as an address that begins with `https://huggingface.co/`, or as
`ORG/NAME`, each with `@REVISION` behind it and, for a repository of GGUF files, `:QUANTIZATION`. Here they are names
of the host `hf.co`, as in Ollama; the tag is the quantization or the file, with a revision `latest--v1.0`.

`someone/model` may be a name of either. It is Hugging Face's if it has a capital letter or a revision, or if its owner
is one of `OWNERS`; else it is the registry's. So one name always means one source, which is known before anything is
sent, and no host is asked for what another has. With a host, a name is never ambiguous.
"""

import re
from urllib.parse import unquote, urlsplit

from sotto.errors import InvalidNameError
from sotto.store.printable import printable
from sotto.store.sources.model_names import DEFAULT_TAG, ModelName, parse_name

HUGGING_FACE = "hf.co"
HUGGING_FACE_HOSTS = frozenset({HUGGING_FACE, "huggingface.co", "www.huggingface.co"})
# Organisations that publish on Hugging Face under names without capital letters.
OWNERS = frozenset(
    "01-ai ai21labs allenai answerdotai apple arcee-ai baidu bartowski bigcode bigscience databricks deepseek-ai "
    "eleutherai facebook ggml-org google huihui-ai ibm-granite inclusionai internlm intfloat jinaai lmstudio-community "
    "meta-llama microsoft mistralai mixedbread-ai mlx-community moonshotai mradermacher nomic-ai nvidia openai openbmb "
    "sentence-transformers stabilityai state-spaces stepfun-ai swiss-ai tencent tiiuae unsloth upstage utter-project "
    "xai-org zai-org".split()
)
_BETWEEN = "--"
_REVISION = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.]|-(?!-)){0,79}")
_PAGES = ("tree", "blob", "resolve")


def parse_wanted(text: str) -> ModelName:
    """Return the name of a model to download.

    Raises:
        InvalidNameError: It is not a name of either kind.
    """
    host, path = _split_host(text)
    if host in HUGGING_FACE_HOSTS:
        return _parse_path(path, text)
    if host is None and _is_hugging_face(path):
        return _parse_path(path, text)
    return parse_name(text)


def wanted_name(name: ModelName) -> str:
    """Return the shortest text that `parse_wanted` takes for a name: its short form, with the host where needed."""
    if parse_wanted(name.short) == name:
        return name.short
    return f"{name.host}/{name.namespace}/{name.model}:{name.tag}"


def possible_names(text: str) -> list[ModelName]:
    """Return the names of models on this machine that a text may mean."""
    names = []
    for parse in (parse_name, parse_wanted, lambda text: parse_wanted(f"{HUGGING_FACE}/{text}")):
        try:
            names.append(parse(text))
        except InvalidNameError:
            # Whether the text is a name at all is for the caller to say.
            continue
    return names


def selection(tag: str) -> tuple[str, str]:
    """Return the quantization or file, and the revision, that the tag of a name of Hugging Face states; else empty."""
    wanted, _, revision = tag.partition(_BETWEEN)
    return ("" if wanted == DEFAULT_TAG else wanted), revision


def _split_host(text: str) -> tuple[str | None, str]:
    """Return a host and what follows it; None if the text names no host."""
    if "://" in text:
        try:
            parts = urlsplit(text)
        except ValueError:
            # `parse_name` says what is wrong with it.
            return "", ""
        return parts.netloc.lower(), unquote(parts.path)
    first, _, rest = text.partition("/")
    return (first.lower(), rest) if "/" in rest or first.lower() in HUGGING_FACE_HOSTS else (None, text)


def _is_hugging_face(text: str) -> bool:
    """Return whether a text without a host is one of Hugging Face's names."""
    owner, separator, model = text.partition("/")
    name = model.partition(":")[0]
    return bool(separator) and ("@" in name or f"{owner}{name}" != f"{owner}{name}".lower() or owner in OWNERS)


def _parse_path(path: str, text: str) -> ModelName:
    """Return the name that a path on Hugging Face stands for."""
    owner, _, rest = path.strip("/").partition("/")
    model, _, page = rest.partition("/")
    model, _, wanted = model.partition(":")
    model, _, revision = model.partition("@")
    if not revision and "@" in wanted:
        wanted, _, revision = wanted.partition("@")
    if page:
        kind, _, place = page.partition("/")
        revision, _, file = place.partition("/")
        if kind not in _PAGES or not revision:
            raise InvalidNameError(
                f"'{printable(text)}' is not the address of a model; it should be https://huggingface.co/ORG/NAME."
            )
        wanted = file.rpartition("/")[2]
    if not owner or not model:
        raise InvalidNameError(f"'{printable(text)}' is not a name of Hugging Face's; it should be hf.co/ORG/NAME.")
    if (revision or "@" in path) and not _REVISION.fullmatch(revision):
        raise InvalidNameError(
            f"'{printable(text)}' asks for the revision '{printable(revision)}'; it should be a branch, a tag or a "
            "commit, of letters, digits or '_-.'."
        )
    if revision == "main":
        revision = ""
    tag = (wanted or DEFAULT_TAG) + (f"{_BETWEEN}{revision}" if revision else "")
    return parse_name(f"{HUGGING_FACE}/{owner}/{model}:{tag}")
