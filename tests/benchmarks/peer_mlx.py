"""MLX without Sotto, in a separate process: the shortest loop with the model's definition, and mlx-lm.

`python peer_mlx.py FOLDER own|float32` prints a JSON line once the model is loaded, then one for each line on stdin:
`["bare" | "mlx-lm", maximum prompt tokens, maximum answer tokens, seconds]` is answered with
`{"prefill": tokens/s, "decode": tokens/s}`. The prompt and the answer are shortened to what takes about that many
seconds each. With `float32` the floating-point weights are widened to the type that is best for MLX on a CPU; with
`own` they are those of the checkpoint. The only other change is that functions are not compiled on a CPU, where
compilation runs a compiler without making anything faster.
"""

import json
import sys
import time

import mlx.core as mx
import mlx_lm
from mlx import nn
from mlx.utils import tree_map
from mlx_lm.models.cache import make_prompt_cache

_MIN_TOKENS = 3


def bare(model: nn.Module, prompt: int, tokens: int) -> tuple[float, float]:
    """Return prefill and decode tokens per second of the shortest loop: forward, argmax, one token ahead."""
    caches = make_prompt_cache(model)
    started = time.perf_counter()
    model(mx.random.randint(3, 90, (1, prompt)), cache=caches)
    mx.eval([cache.state for cache in caches])
    read = time.perf_counter()
    token = mx.argmax(model(mx.array([[5]]), cache=caches)[:, -1, :], axis=-1)
    mx.eval(token)
    first = time.perf_counter()
    for _ in range(tokens - 1):
        following = mx.argmax(model(token[:, None], cache=caches)[:, -1, :], axis=-1)
        mx.async_eval(following)
        token.item()
        token = following
    token.item()
    return prompt / (read - started), (tokens - 1) / (time.perf_counter() - first)


def generated(model: nn.Module, tokenizer: object, prompt: int, tokens: int) -> tuple[float, float]:
    """Return the same for `mlx_lm.stream_generate`."""
    ids = mx.random.randint(3, 90, (prompt,)).tolist()
    started = time.perf_counter()
    times = [time.perf_counter() for _ in mlx_lm.stream_generate(model, tokenizer, ids, max_tokens=tokens)]
    return prompt / (times[0] - started), (len(times) - 1) / (times[-1] - times[0])


def main() -> None:
    if mx.default_device() == mx.cpu:
        mx.disable_compile()
    model, tokenizer = mlx_lm.load(sys.argv[1])
    if sys.argv[2] == "float32":
        widen = (mx.bfloat16, mx.float16)
        model.update(tree_map(lambda w: w.astype(mx.float32) if w.dtype in widen else w, model.parameters()))
        mx.eval(model.parameters())
    tokenizer._eos_token_ids = set()
    mx.eval(model(mx.array([[5]])))
    started = time.perf_counter()
    mx.eval(model(mx.array([[5]])))
    seconds_per_token = time.perf_counter() - started
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        what, max_prompt, tokens, seconds = json.loads(line)
        max_tokens = max(_MIN_TOKENS, int(seconds / seconds_per_token))
        prompt, tokens = min(max_prompt, max_tokens), min(tokens, max_tokens)
        run = bare(model, prompt, tokens) if what == "bare" else generated(model, tokenizer, prompt, tokens)
        print(json.dumps({"prefill": run[0], "decode": run[1]}), flush=True)


main()
