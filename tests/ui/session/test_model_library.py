from dataclasses import replace
from pathlib import Path

from scripted_loop import record
from sotto.runner.residents import is_same_model
from sotto.ui.session.model_library import ModelList

FIRST = replace(record("a"), path=Path("/stores/a"), digest="1" * 64)
SECOND = replace(record("b"), path=Path("/stores/b"), digest="2" * 64)
ELSEWHERE = replace(record("c"), path=Path("/elsewhere/c"), digest="3" * 64)


def test_models_are_equal_by_place_or_content():
    assert is_same_model(FIRST, replace(SECOND, path=FIRST.path))
    assert is_same_model(FIRST, replace(SECOND, digest=FIRST.digest))
    assert not is_same_model(FIRST, SECOND)
    assert not is_same_model(replace(FIRST, digest=""), replace(SECOND, digest=""))


def test_opened_models_come_before_found_ones():
    models = ModelList()
    assert models.records == ()
    models.set_found([FIRST, SECOND])
    models.add_opened(ELSEWHERE)
    assert models.records == (ELSEWHERE, FIRST, SECOND)
    models.add_opened(replace(ELSEWHERE, name="again"))
    assert [model.name for model in models.records] == ["again", FIRST.name, SECOND.name]


def test_an_opened_model_that_is_found_later_is_listed_once():
    models = ModelList()
    models.add_opened(ELSEWHERE)
    models.add_opened(replace(SECOND, path=Path("/copy/b")))
    models.set_found([FIRST, SECOND])
    assert models.records == (ELSEWHERE, FIRST, SECOND)
    models.set_found([FIRST])
    assert [model.path for model in models.records] == [ELSEWHERE.path, Path("/copy/b"), FIRST.path]


def test_a_model_is_looked_up_whatever_its_origin():
    models = ModelList()
    models.set_found([FIRST])
    models.add_opened(ELSEWHERE)
    assert models.find(replace(FIRST, path=Path("/copy/a"))) is FIRST
    assert models.find(replace(ELSEWHERE, digest="")) is ELSEWHERE
    assert models.find(SECOND) is None
