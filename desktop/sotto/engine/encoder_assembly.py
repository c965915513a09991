"""Assembly of a loaded encoder, which computes embeddings and keeps nothing for later prompts."""

import mlx.core as mx

from sotto.engine.assembly import Order, Parts, Ready, model_info
from sotto.engine.caches.prefix_cache import PrefixCache
from sotto.engine.config.context_limit import longest_context
from sotto.engine.config.load_errors import as_load_error
from sotto.engine.config.pooling_config import read_pooling_config
from sotto.engine.footprint.load_planning import Fitting
from sotto.engine.generation.chunk_sizing import ChunkSizing
from sotto.engine.generation.scheduler import Scheduler
from sotto.engine.kernels.cpu_linear import adapt_to_cpu
from sotto.engine.kernels.device import device
from sotto.engine.vectors.embedding import Embedder
from sotto.engine.vectors.hidden_states import encoder_reader
from sotto.errors import UnsupportedModelError


def assemble_encoder(order: Order, fitting: Fitting, parts: Parts) -> Ready:
    """Assemble an encoder from what was read, ready to embed texts.

    Args:
        order: What was asked for.
        fitting: What was planned for it.
        parts: The encoder and tokenizer that were read.

    Raises:
        UnsupportedModelError: The model cannot be computed, or its embeddings cannot be computed as its files ask.
        BrokenModelError: Its files make no sense.
    """
    record, model, preparer = order.source.record, parts.loaded.model, parts.preparer
    if order.draft is not None:
        raise UnsupportedModelError(f"{record.name} writes no text, so that there is nothing to draft: leave that out.")
    sentence = read_pooling_config(order.source)
    if device() == "cpu":
        adapt_to_cpu(model)
    with as_load_error(order.source):
        hidden = model(mx.array([[0]]))
    if device() != "cpu":
        # Compile the kernels now; otherwise the first text would wait for them.
        mx.eval(hidden)
    longest = longest_context(order.source, model, parts.loaded.config)
    preparer.fit(longest, order.num_ctx, model.args.vocab_size, finds_boundary=False, room=fitting.room)
    context = preparer.context_length
    prefix = PrefixCache(list, 0)
    info = model_info(order, fitting, parts, writes=False)
    embedder = Embedder(encoder_reader(model), preparer.tokenizer, sentence, context, model.args.vocab_size)
    return Ready(info, preparer, prefix, Scheduler(model, prefix, ChunkSizing()), None, embedder)
