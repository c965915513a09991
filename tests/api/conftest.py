"""Fixtures with a real server over a real engine, shared by the tests in this folder."""

import os
from dataclasses import dataclass, replace

import anthropic
import httpx
import ollama
import openai
import pytest

from called_tool import CHUNKS
from embedding import minilm
from gguf_encoders import write_encoder
from material import ROOT
from places import EMBEDDINGS
from scripted_loop import Script, ScriptedLoop, record
from sotto.api.server import Address, ApiServer
from sotto.runner.catalogue import catalogue
from sotto.runner.loop_host import LoopHost
from sotto.store.opening import record_of
from thinking_models import HERMES, STAR_CODER, write_family

_STORE_VARIABLES = ("OLLAMA_MODELS", "HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "SOTTO_FOLDERS")


@pytest.fixture(scope="session", autouse=True)
def own_home(tmp_path_factory):
    """Hide the stores of the person who runs the tests, and use the one among the test material as Ollama's store."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        for name in _STORE_VARIABLES:
            patch.delenv(name, raising=False)
        if (store := ROOT / "ollama-store").exists():
            patch.setenv("OLLAMA_MODELS", os.fspath(store))
        yield


@dataclass
class Served:
    """A server, its host and an HTTP client of the server."""

    server: ApiServer
    host: LoopHost
    http: httpx.Client

    @property
    def url(self):
        return self.server.url


@pytest.fixture(scope="session")
def host(own_home, tmp_path_factory):
    encoder = replace(record_of(minilm()), name="all-minilm:latest")
    path = write_encoder(tmp_path_factory.mktemp("gguf") / "nomic.gguf", EMBEDDINGS / "nomic-bert")
    nomic = replace(record_of(path), name="nomic-embed-text:latest")
    folder = tmp_path_factory.mktemp("models")
    thinking = replace(record_of(write_family(folder / "hermes", HERMES)), name="thinking:latest")
    filling = replace(record_of(write_family(folder / "filling", STAR_CODER)), name="filling:latest")
    made = LoopHost(models=lambda: (*catalogue().records, encoder, nomic, thinking, filling))
    yield made
    assert made.close()


@pytest.fixture
def serve(host):
    """Yield a function that starts servers over the shared engine, and stop all of them afterwards."""
    servers, clients = [], []

    def start(of=None, **address):
        server = ApiServer(of or host, Address(**{"host": "127.0.0.1", "port": 0} | address))
        server.start()
        servers.append(server)
        clients.append(httpx.Client(base_url=server.url, timeout=60))
        return Served(server, of or host, clients[-1])

    yield start
    for client in clients:
        client.close()
    for server in servers:
        assert server.stop()


@pytest.fixture(scope="module")
def served(host):
    server = ApiServer(host, Address("127.0.0.1", 0))
    server.start()
    with httpx.Client(base_url=server.url, timeout=60) as client:
        yield Served(server, host, client)
    assert server.stop()


@pytest.fixture(scope="module")
def script():
    """Return the script of the model behind `url`; each module has its own."""
    return Script(chunks=CHUNKS)


@pytest.fixture(scope="module")
def url(own_home, script):
    """Yield the URL of a server with a scripted model named `tiny`."""
    host = LoopHost(make_loop=lambda emit: ScriptedLoop(emit, script), models=lambda: (record("tiny:latest"),))
    server = ApiServer(host, Address("127.0.0.1", 0))
    server.start()
    yield server.url
    assert server.stop()
    assert host.close()


@pytest.fixture
def ollama_client(served):
    with ollama.Client(host=served.url) as client:
        yield client


@pytest.fixture
def openai_client(served):
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture
def anthropic_client(served):
    with anthropic.Anthropic(base_url=served.url, api_key="none", max_retries=0) as client:
        yield client
