"""The held-out questions are what they should be, and the built-in model answers nine in ten of them."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from random import Random
from types import ModuleType

import pytest

from thoroughness import share

FOLDER = Path(__file__).resolve().parents[2] / "packaging" / "builtin_model"
QUESTIONS = [json.loads(line) for line in (FOLDER / "held_out.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch):
    """Import a script of the folder by name; the scripts import each other."""
    monkeypatch.syspath_prepend(str(FOLDER))
    names = {path.stem for path in FOLDER.glob("*.py")}

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module

    yield load
    for name in names:
        sys.modules.pop(name, None)


def words(text: str) -> str:
    return " ".join(re.sub(r"[^a-z0-9 ]", "", text.lower()).split())


def test_there_are_enough_and_each_is_whole():
    """Count the questions, and look at the keys, types and patterns of each."""
    assert len(QUESTIONS) >= 150
    assert len({question["id"] for question in QUESTIONS}) == len(QUESTIONS)
    assert len({words(question["question"]) for question in QUESTIONS}) == len(QUESTIONS)
    for question in QUESTIONS:
        assert set(question) == {"id", "question", "topic", "accept", "reject"}
        assert all(question[key] and isinstance(question[key], str) for key in ("id", "question", "topic"))
        assert all(isinstance(question[key], list) for key in ("accept", "reject"))
        assert question["accept"]
        for pattern in (*question["accept"], *question["reject"]):
            assert not re.search(pattern, "", re.IGNORECASE), pattern


def test_each_is_on_a_topic_of_the_corpus(script):
    """Compare the topics with the corpus's ids, so that a miss is found under the name it has there."""
    known = set(script("conversations").Corpus().index)
    assert {question["topic"] for question in QUESTIONS} <= known


def test_none_stands_in_the_texts_of_the_corpus():
    """Look for each question in the corpus as it is written, without regard to case and punctuation."""
    files = sorted((FOLDER / "corpus").rglob("*.txt"))
    assert files
    texts = [f" {words(path.read_text(encoding='utf-8'))} " for path in files]
    found = [q["id"] for q in QUESTIONS if any(f" {words(q['question'])} " in text for text in texts)]
    assert found == []


def test_none_is_a_wording_of_the_corpus(script):
    """Draw from the corpus many times over and never meet a question."""
    corpus, variety = script("conversations").Corpus(), script("grammar").variety
    random = Random(1)
    drawn = {
        words(corpus.grammar.draw(wording, random))
        for topic in corpus.topics
        for wording in topic.questions
        for _ in range(30 if variety(wording) > 1 else 1)
    }
    assert len(drawn) > 20_000
    assert drawn & {words(question["question"]) for question in QUESTIONS} == set()


def test_a_right_answer_is_told_from_a_wrong_one(script):
    """Judge a right answer, one to another question, and one with a rejected phrase."""
    right = script("evaluate").is_right
    question = {"accept": ["stop|esc"], "reject": ["bigger model"]}
    assert right("Press Stop.", question)
    assert not right("Press Enter.", question)
    assert not right("A bigger model could stop.", question)


def test_the_figure_is_that_of_these_questions():
    """Compare the figure with the questions, the threshold and the README."""
    figure = json.loads((FOLDER / "held_out_figure.json").read_text(encoding="utf-8"))
    assert figure["questions"] == len(QUESTIONS)
    assert figure["share"] == round(figure["right"] / figure["questions"], 4) >= 0.9
    shown = f"{figure['right'] / figure['questions']:.1%}".replace("%", " %")
    assert f"{shown} answered correctly ({figure['right']} of {figure['questions']})" in (
        FOLDER / "README.md"
    ).read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_model_answers_nine_in_ten(tmp_path):
    """Evaluate the model that is shipped."""
    # A process of its own: the engine ends its thread's use of MLX.
    asked = QUESTIONS[:: len(QUESTIONS) // share(len(QUESTIONS))]
    questions, figures = tmp_path / "questions.jsonl", tmp_path / "figure.json"
    questions.write_text("".join(f"{json.dumps(question)}\n" for question in asked), encoding="utf-8")
    command = [sys.executable, FOLDER / "evaluate.py", "--questions", questions, "--out", figures]
    subprocess.run(command, check=True, timeout=280)
    figure = json.loads(figures.read_text(encoding="utf-8"))
    assert figure["questions"] == len(asked)
    assert figure["right"] >= 0.9 * len(asked), figure["missed_by_topic"]
