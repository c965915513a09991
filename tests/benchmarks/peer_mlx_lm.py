"""mlx-lm in a process of its own: prints a JSON line, then one for each line it is given.

`python peer_mlx_lm.py FOLDER own|float32`; each line of input is the number of tokens of one round, each line of output
`{"times": [seconds, one for each token]}`. With `float32` the floating-point weights are widened as
Sotto widens them on a CPU, and the same BLAS is used; with `own` everything is as mlx-lm does it by itself.
"""

import json
import sys
import time

if sys.argv[2] == "float32":
    from sotto.engine import device

    device.prepare()

import mlx.core as mx
import mlx_lm
from mlx.utils import tree_map

PROMPT = "a b c d e f g h i j k l m n o p"


def main() -> None:
    model, tokenizer = mlx_lm.load(sys.argv[1])
    if sys.argv[2] == "float32":
        widen = (mx.bfloat16, mx.float16)
        model.update(tree_map(lambda w: w.astype(mx.float32) if w.dtype in widen else w, model.parameters()))
        mx.eval(model.parameters())
    tokenizer._eos_token_ids = set()
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        times = [time.perf_counter() for _ in mlx_lm.stream_generate(model, tokenizer, PROMPT, max_tokens=int(line))]
        print(json.dumps({"times": times}), flush=True)


main()
