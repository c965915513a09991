from sotto.images.recent import Recent


def test_values_beyond_the_limit_are_forgotten():
    recent = Recent(23, len)
    recent.add("a", "x" * 10)
    recent.add("b", "x" * 11)
    assert recent.find("a") == "x" * 10
    recent.add("c", "x" * 12)
    assert [recent.find(key) for key in "abc"] == ["x" * 10, None, "x" * 12]
    recent.add("d", "x" * 24)
    assert [recent.find(key) for key in "abcd"] == [None] * 4


def test_values_count_as_one_each_without_a_size():
    recent = Recent(2)
    for key in "abc":
        recent.add(key, key)
    assert [recent.find(key) for key in "abc"] == [None, "b", "c"]
