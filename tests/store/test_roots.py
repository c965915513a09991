"""The roots that are searched for models: those of the environment, then every default."""

import os
import sys
from pathlib import Path

import pytest

from sotto.paths import data_dir, resources_dir
from sotto.store.records import Source
from sotto.store.roots import default_roots

SERVICE = Path("/usr/share/ollama/.ollama/models")


def of_kind(environ, kind):
    return [root.path for root in default_roots(environ) if root.kind is kind]


@pytest.fixture
def environ(home):
    return {"HOME": str(home)}


def test_the_default_roots_are_searched_in_order(environ, home):
    roots = default_roots(environ)
    assert [root.path for root in roots] == [
        resources_dir() / "store",
        data_dir() / "models",
        *([SERVICE] if sys.platform.startswith("linux") else []),
        home / ".ollama" / "models",
        home / ".cache" / "huggingface" / "hub",
        home / ".lmstudio" / "models",
        home / ".cache" / "lm-studio" / "models",
    ]
    kinds = [root.kind for root in roots]
    assert kinds == sorted(kinds, key=list(Source).index)
    assert [root.path for root in roots if root.missing_is_error] == [resources_dir() / "store"]


@pytest.mark.parametrize("said", ["{}", "  {} ", '"{}"', " '{}' "])
def test_a_configured_store_comes_first_and_must_exist(environ, home, tmp_path, said):
    roots = default_roots(environ | {"OLLAMA_MODELS": said.format(tmp_path)})
    ollama = [root for root in roots if root.kind is Source.OLLAMA]
    assert (ollama[0].path, ollama[0].missing_is_error) == (tmp_path, True)
    assert home / ".ollama" / "models" in [root.path for root in ollama[1:]]
    assert not any(root.missing_is_error for root in ollama[1:])


@pytest.mark.parametrize("said", ["", "  ", '""'])
def test_an_empty_value_is_ignored(environ, said):
    names = ("OLLAMA_MODELS", "HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "SOTTO_FOLDERS")
    assert default_roots(environ | dict.fromkeys(names, said)) == default_roots(environ)


def test_the_default_may_be_configured_too(environ, home):
    roots = default_roots(environ | {"OLLAMA_MODELS": str(home / ".ollama" / "models")})
    assert [root.missing_is_error for root in roots if root.path == home / ".ollama" / "models"] == [True]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"HF_HUB_CACHE": "/a", "HF_HOME": "/b", "XDG_CACHE_HOME": "/c"}, "/a"),
        ({"HUGGINGFACE_HUB_CACHE": "/a", "HF_HOME": "/b"}, "/a"),
        ({"HF_HOME": "/b", "XDG_CACHE_HOME": "/c"}, "/b/hub"),
        ({"XDG_CACHE_HOME": "/c"}, "/c/huggingface/hub"),
    ],
)
def test_the_cache_is_where_huggingface_hub_looks(environ, said, expected):
    assert of_kind(environ | said, Source.HUGGINGFACE) == [Path(expected)]


def test_further_folders_are_listed_as_in_a_search_path(environ, home):
    variable = os.pathsep.join(["/models", "", " ~/mine ", "/models/../other", "/models"])
    folders = [root for root in default_roots(environ | {"SOTTO_FOLDERS": variable}) if root.kind is Source.FOLDER]
    assert [root.path for root in folders] == [Path("/models"), home / "mine", Path("/other")]
    assert all(root.missing_is_error for root in folders)


def test_every_root_is_absolute(environ, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    variables = {"OLLAMA_MODELS": "here", "HF_HOME": "~", "SOTTO_FOLDERS": "./x"}
    roots = default_roots(environ | variables)
    assert all(root.path.is_absolute() for root in roots)
    assert tmp_path / "here" in [root.path for root in roots]
    assert len({root.path for root in roots}) == len(roots)
