"""Sotto runs language models on the machine in front of you.

Importing this package costs nothing: the rooms below it are imported where they are used.
"""

__version__ = "0.1.0"
