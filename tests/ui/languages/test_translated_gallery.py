"""The page to find models in a made-up language: nothing of it stays English."""

import re

from hub_search import gguf_model, mlx_model, serving
from planned import GB
from scripted_loop import record
from sotto.store.finding.suggestions import suggestions
from sotto.store.pull.progress import PullProgress, PullState
from sotto.store.records import Source
from sotto.ui.gallery import offer_words
from sotto.ui.gallery.offers import Offer, Section

WORD = re.compile(r"[^\W\d_]{2,}")


def test_nothing_about_finding_models_stays_english(reader, shell, around, qtbot, loop, same_machine, monkeypatch):
    for suggestion in suggestions():
        names = [f"{version.name} {version.bits}" for version in suggestion.versions]
        reader.data |= set(WORD.findall(" ".join((suggestion.title, suggestion.maker, suggestion.licence, *names))))
    reader.data |= set("MLX GGUF qwen unsloth apache UD XL BF mlx community bit someone weird odd".split())
    reader.data |= set("registry ollama ai llama".split())
    around.shelf.records = [record("qwen3:4b", source=Source.SOTTO)]
    # Why a model cannot run is said in English, so that its card is not read.
    weird = mlx_model("someone/weird", gated="auto", downloads=1, config={})
    odd = mlx_model("someone/qwen3-odd", downloads=999, config={"model_type": "odd"})
    with serving(gguf_model(downloads=900), mlx_model(), weird, odd) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        around.shell.open_window()
        window = around.shell.window
        planner = window.models.planner
        qtbot.waitUntil(lambda: planner.memory.sample is not None)
        window.finding.open()
        page = window.finding.page

        def look():
            reader.look(page)
            for entry in page.list.offers.entries:
                offer = isinstance(entry, Offer)
                reader.note("gallery", offer_words.accessible_name(entry) if offer else entry)

        def sections():
            return {entry.section for entry in page.list.offers.entries if isinstance(entry, Offer)}

        def choose(section):
            offers = [entry for entry in page.list.offers.entries if isinstance(entry, Offer)]
            page.list.select([offer for offer in offers if offer.section is section][-1])
            look()

        qtbot.waitUntil(lambda: any(isinstance(entry, Offer) for entry in page.list.offers.entries))
        for entry in page.list.offers.entries:
            if isinstance(entry, Offer):
                page.list.select(entry)
                reader.look(page.card)
                if entry.title == "Qwen3 4B":
                    window.models.downloading.get("hf.co/mlx-community/Qwen3-4B-4bit")
                    around.queue.report(PullProgress("hf.co/mlx-community/Qwen3-4B-4bit", PullState.WAITING, 0, GB))
                    reader.look(page.card)
        look()
        page.field.setText("llama3.2:1b")
        choose(Section.NAMED)
        for words in ("qwen3", "weird"):
            hub.held.clear()
            page.field.setText(words)
            look()
            hub.held.set()
            qtbot.waitUntil(lambda: Section.FOUND in sections())
            choose(Section.FOUND)
            qtbot.waitUntil(lambda: page.list.current.source.complete)
            choose(Section.FOUND)
        page.field.setText("nowhere")
        qtbot.waitUntil(lambda: page.status.text().endswith("⟦Nothing was found there.⟧"))
        look()
    window.finding.close()
    assert reader.english == {}
    assert reader.unread("gallery") == []
