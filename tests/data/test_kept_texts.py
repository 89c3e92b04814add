import numpy as np

from thincrm.data import kept_texts
from thincrm.data.kept_texts import KeptTexts

TEXTS = ["one", "", "zwölf", "\N{SNOWMAN}" * 9, "lone \udc80", "last"]


def kept(most_letters):
    found = KeptTexts(most_letters)
    for text in TEXTS:
        found.add(text)
    assert found.n_texts == len(TEXTS)
    return found.texts()


def test_texts_come_back_from_memory_and_from_disk(monkeypatch):
    n_letters = int(np.sum([len(text) for text in TEXTS]))
    for block in (1, 7, 2**24):
        monkeypatch.setattr(kept_texts, "_BLOCK", block)
        assert kept(n_letters) == TEXTS
        assert kept(n_letters - 1) is None
        assert kept(3) is None


def test_no_texts_are_none_at_all():
    assert KeptTexts(5).texts() == []
