"""The folders of the tests' data."""

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
SUPPORT = TESTS / "support"
PICTURES = TESTS / "_reference"
CONVERTED = TESTS / "engine" / "converted"
REFERENCES = TESTS / "engine" / "references"
ADAPTERS = REFERENCES.parent / "adapters"
VISION_REFERENCES = REFERENCES.parent / "vision" / "references"
EMBEDDINGS = TESTS / "engine" / "embeddings"
