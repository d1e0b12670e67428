"""The studio from a notebook: a table goes in, the labels that were made on the page come out."""

import httpx
import numpy as np
import pytest

import evencut
from conftest import Tab


def test_labels_made_on_the_page_come_back():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 9])
    frame = pandas.DataFrame({"u": X[:, 0], "v": X[:, 1], "side": np.repeat(["left", "right"], 40)})
    with evencut.open_studio(frame, open_browser=False) as studio:
        with pytest.raises(RuntimeError, match="nothing is clustered"):
            studio.labels()
        base, _, token = studio.address.partition("/?token=")
        client = httpx.Client(base_url=base, headers={"Authorization": f"Bearer {token}"}, timeout=600)
        tab = Tab(client)
        loaded = tab.post("/points/given", {"index": 0}).json()
        assert loaded["chosen"] == ["u", "v"]
        tab.fit("b", n_clusters="auto")
        labels = studio.labels()
        assert sorted(np.bincount(labels)) == [40, 40]
        assert len(set(labels[:40])) == 1
        with pytest.raises(ValueError, match="side='top'"):
            studio.labels("top")
        client.close()
    with pytest.raises(httpx.TransportError):
        httpx.get(base, timeout=5)


def test_what_is_no_table_is_refused_in_words():
    with pytest.raises(ValueError, match="give numbers of shape"):
        evencut.open_studio(np.zeros(3), open_browser=False)
