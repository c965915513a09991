"""The radix tree, compared with a simple set of sequences, and its look-ups, compared with a walk token by token."""

import gc
import time
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from sotto.engine.caches.radix import RadixTree, Tokens
from thoroughness import examples

# Few ids, so that sequences share prefixes; two of them need more than 16 bits, and one the top bit.
sequences = st.lists(st.sampled_from([0, 1, 2, 1 << 20, 0xFFFFFFFF]), max_size=12).map(tuple)


def split_payload(payload, at):
    return payload[:at], payload[at:]


def join_payloads(first, second):
    return first + second


def common_length(first, second):
    length = 0
    while length < min(len(first), len(second)) and first[length] == second[length]:
        length += 1
    return length


def ids_of(tokens):
    return np.frombuffer(tokens.data, "<u4").tolist()


def sequence_of(node):
    return tuple(token for ancestor in node.path() for token in ids_of(ancestor.edge))


class Radix(RuleBasedStateMachine):
    """Compares the tree with a model of it: the whole sequences at which nodes end, and when each was used."""

    def __init__(self):
        super().__init__()
        self.tree = RadixTree(split_payload, join_payloads)
        self.ends = set()
        self.uses = [((), 0)]
        self.clock = 0

    def known(self, tokens):
        return max((common_length(tokens, end) for end in self.ends), default=0)

    def use(self, tokens):
        self.clock += 1
        self.uses.append((tokens, self.clock))

    def time(self, tokens):
        return max(at for used, at in self.uses if used[: len(tokens)] == tokens)

    def children(self, tokens):
        below = [end for end in self.ends if len(end) > len(tokens) and end[: len(tokens)] == tokens]
        return [end for end in below if not any(end != other and end[: len(other)] == other for other in below)]

    def node(self, draw):
        return draw(st.sampled_from(sorted(self.tree, key=sequence_of)))

    @rule(tokens=sequences)
    def insert(self, tokens):
        known = self.known(tokens)
        node = self.tree.insert(Tokens.of(tokens))
        self.ends |= {tokens[:known], tokens} - {()}
        self.use(tokens)
        assert sequence_of(node) == tokens
        for new in self.tree:
            if new.payload is None:
                new.payload = ids_of(new.edge)

    @precondition(lambda self: self.ends)
    @rule(data=st.data())
    def insert_a_prefix(self, data):
        end = data.draw(st.sampled_from(sorted(self.ends)))
        self.insert(end[: data.draw(st.integers(0, len(end)))])

    @precondition(lambda self: any(len(node.edge) > 1 for node in self.tree))
    @rule(data=st.data())
    def split(self, data):
        node = data.draw(st.sampled_from(sorted((n for n in self.tree if len(n.edge) > 1), key=sequence_of)))
        at = data.draw(st.integers(node.start + 1, node.end - 1))
        whole, time_before = sequence_of(node), node.used
        upper = self.tree.split(node, at)
        assert (sequence_of(upper), sequence_of(node)) == (whole[:at], whole)
        assert upper.used == node.used == time_before
        self.ends.add(whole[:at])

    @precondition(lambda self: any(len(node.children) == 1 for node in self.tree))
    @rule(data=st.data())
    def merge(self, data):
        node = data.draw(st.sampled_from(sorted((n for n in self.tree if len(n.children) == 1), key=sequence_of)))
        upper, (child,) = sequence_of(node), node.children.values()
        whole = sequence_of(child)
        self.uses.append((whole, self.time(upper)))
        assert self.tree.merge(node) is child
        assert sequence_of(child) == whole
        self.ends.remove(upper)

    @precondition(lambda self: self.ends)
    @rule(data=st.data())
    def remove(self, data):
        node = self.node(data.draw)
        whole = sequence_of(node)
        if node.children:
            with pytest.raises(ValueError):
                self.tree.remove(node)
            return
        parent = self.tree.remove(node)
        self.ends.remove(whole)
        assert sequence_of(parent) == max((end for end in self.ends | {()} if whole[: len(end)] == end), key=len)
        assert node.parent is None

    @precondition(lambda self: self.ends)
    @rule(data=st.data())
    def touch(self, data):
        node = self.node(data.draw)
        self.tree.touch(node)
        self.use(sequence_of(node))

    @rule(tokens=sequences)
    def match(self, tokens):
        found = self.tree.match(Tokens.of(tokens))
        assert found.length == self.known(tokens)
        at = 0
        for node in found.path:
            assert node.start == at < found.length
            at = node.end
        assert found.length <= at
        assert (
            b"".join(node.edge.data for node in found.path)[: 4 * found.length]
            == Tokens.of(tokens).data[: 4 * found.length]
        )

    @invariant()
    def agrees(self):
        nodes = list(self.tree)
        assert len(nodes) == len(self.tree) == len(self.ends)
        assert {sequence_of(node) for node in nodes} == self.ends
        for node in nodes:
            whole = sequence_of(node)
            assert node.end == len(whole) > node.start
            assert tuple(node.payload) == tuple(ids_of(node.edge)) == whole[node.start :]
            assert node.used == self.time(whole)
            assert node.parent.used >= node.used
            assert node.path()[-1] is node
            assert {sequence_of(child) for child in node.children.values()} == set(self.children(whole))


Radix.TestCase.settings = examples(150, stateful_step_count=30)
TestRadix = Radix.TestCase


@given(st.lists(sequences, min_size=1), st.data())
def test_a_merge_undoes_a_split(many, data):
    tree = RadixTree(split_payload, join_payloads)
    for tokens in many:
        tree.insert(Tokens.of(tokens))
    for node in tree:
        node.payload = ids_of(node.edge)
    long = sorted((node for node in tree if len(node.edge) > 1), key=sequence_of)
    if not long:
        return

    def shape():
        return [
            (sequence_of(node), node.start, node.used, node.payload, node.parent, dict(node.children)) for node in tree
        ]

    before = shape()
    node = data.draw(st.sampled_from(long))
    upper = tree.split(node, data.draw(st.integers(node.start + 1, node.end - 1)))
    assert len(tree) == len(before) + 1
    assert tree.merge(upper) is node
    assert sorted(shape(), key=lambda row: row[0]) == sorted(before, key=lambda row: row[0])


@given(st.lists(st.integers(0, 2**32 - 1), max_size=20), st.integers(-25, 25), st.integers(-25, 25))
def test_tokens_are_sliced_like_lists(ids, start, stop):
    tokens = Tokens.of(ids)
    assert ids_of(tokens) == ids
    assert len(tokens) == len(ids)
    assert tokens.data == b"".join(token.to_bytes(4, "little") for token in ids)
    assert ids_of(tokens[start:stop]) == ids[start:stop]
    assert tokens[start:] == Tokens.of(ids[start:])


@pytest.mark.parametrize("ids", [[-1], [1 << 32]])
def test_invalid_token_ids_are_refused(ids):
    with pytest.raises(OverflowError):
        Tokens.of(ids)


def test_tokens_are_only_sliced_in_steps_of_one():
    with pytest.raises(ValueError, match="steps of 1"):
        Tokens.of(range(4))[::2]


def test_the_root_cannot_be_changed():
    tree = RadixTree(split_payload, join_payloads)
    assert tree.insert(Tokens()) is tree.root
    tree.insert(Tokens.of([1]))
    assert tree.match(Tokens()) == tree.match(Tokens.of([2]))
    for change in (tree.merge, tree.remove, lambda root: tree.split(root, 0)):
        with pytest.raises(ValueError):
            change(tree.root)


@pytest.mark.parametrize("at", [2, 5, 0, 9])
def test_a_node_is_only_split_inside_its_edge(at):
    tree = RadixTree(split_payload, join_payloads)
    tree.insert(Tokens.of([0, 1]))
    with pytest.raises(ValueError, match="cannot be cut"):
        tree.split(tree.insert(Tokens.of([0, 1, 2, 3, 4])), at)


def test_a_split_that_fails_changes_nothing():
    def fails(payload, at):
        raise MemoryError

    tree = RadixTree(fails, join_payloads)
    node = tree.insert(Tokens.of([1, 2, 3]))
    node.payload = "data"
    with pytest.raises(MemoryError):
        tree.insert(Tokens.of([1, 5]))
    assert [(sequence_of(node), node.payload) for node in tree] == [((1, 2, 3), "data")]
    assert tree.match(Tokens.of([1, 2, 3, 4])).path == (node,)


def test_payloads_of_a_cleared_tree_are_freed_without_the_garbage_collector():
    class Payload:
        pass

    tree = RadixTree(split_payload, join_payloads)
    node = tree.insert(Tokens.of([1, 2]))
    node.payload = Payload()
    gone = weakref.ref(node.payload)
    leaf = tree.insert(Tokens.of([1, 2, 3]))
    leaf.payload = Payload()
    leaf_gone = weakref.ref(leaf.payload)
    gc.disable()
    try:
        tree.remove(leaf)
        del leaf
        assert leaf_gone() is None
        tree.clear()
        assert gone() is None
    finally:
        gc.enable()
    assert (len(tree), list(tree), tree.match(Tokens.of([1, 2])).length) == (0, [], 0)


# The tests of speed below require much smaller differences than there are, so that a busy machine does not matter.


def fastest(call, times=15):
    """Return the seconds of the fastest of several calls."""
    seconds = []
    for _ in range(times):
        before = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - before)
    return min(seconds)


@pytest.mark.parametrize("where", [0, 200, 65_537, 99_999, 100_000])
def test_a_long_prompt_is_looked_up_much_faster_than_by_a_walk(where):
    stored = list(range(100_000))
    prompt = [*stored[:where], *(0xFFFFFFFF for _ in range(100_000 - where))]
    tree = RadixTree(split_payload, join_payloads)
    tree.insert(Tokens.of(stored))
    assert tree.match(Tokens.of(prompt)).length == where
    # The first comparison includes the packing. The walk is the cheapest possible one.
    walk = fastest(lambda: sum(1 for first, second in zip(stored, prompt, strict=True) if first == second), 5)
    assert fastest(lambda: tree.match(Tokens.of(prompt))) < walk
    packed = Tokens.of(prompt)
    assert fastest(lambda: tree.match(packed)) < walk / 20


def test_tokens_beyond_the_divergence_take_no_time():
    def time_look_up(length):
        tree = RadixTree(split_payload, join_payloads)
        tree.insert(Tokens.of(range(length)))
        prompt = Tokens.of([*range(200), *(7 for _ in range(100_000))])
        assert tree.match(prompt).length == 200
        return fastest(lambda: [tree.match(prompt) for _ in range(100)])

    # Ten times as many tokens would take ten times as long if they were read.
    assert time_look_up(1_000_000) < 3 * time_look_up(100_000)


def test_a_prefix_over_many_nodes_is_found():
    tree = RadixTree(split_payload, join_payloads)
    tokens = Tokens.of(range(50_000))
    for end in range(100, 50_001, 100):
        tree.insert(tokens[:end])
    assert tree.match(tokens).length == 50_000
    assert len(tree.match(tokens[:7_777]).path) == 78
    assert sum(1 for _ in tree) == 500
