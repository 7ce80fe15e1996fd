"""The widget's side in Python: messages in, messages out, searches that can be cancelled."""

from __future__ import annotations

import json
import sys
import threading
from queue import Queue
from typing import Any

import pytest

import likely
from likely.errors import MissingExtraError
from likely.page.conversation import Conversation
from likely.problem import Progress
from likely.serve import Reply, Service

WAIT = 30


class Slow(Service):
    """A service whose searches go on until they are told to end."""

    def reply(self, path: str, body: Any = None, callback: Any = None) -> Reply:
        if path != "/explain":
            return super().reply(path, body, callback)
        self.begun.set()
        while callback(Progress(lower=1.0, upper=2.0, seconds=1.0, nodes=3)):
            self.pause.wait(0.02)
        self.ended.set()
        return Reply(200, {"explanation": {}})

    begun, ended, pause = threading.Event(), threading.Event(), threading.Event()


def test_a_question_is_answered_as_the_service_does(service: Service) -> None:
    said: Queue[dict[str, Any]] = Queue()
    talk = Conversation(service, said.put)
    question = {"row": dict((service.examples or [])[0]), "k": 2}
    assert talk.explanation is None
    talk.hear({"id": 7, "path": "/explain", "body": question})
    message = said.get(timeout=WAIT)
    while "progress" in message:
        message = said.get(timeout=WAIT)
    body, direct = message["body"], service.reply("/explain", question).body
    assert (message["id"], message["status"]) == (7, 200)
    assert body["answers"] == direct["answers"]
    json.dumps(message, allow_nan=False)
    assert talk.explanation == likely.Explanation.from_dict(direct["explanation"])
    talk.close()


def test_a_bad_question_is_refused_in_a_sentence(service: Service) -> None:
    said: Queue[dict[str, Any]] = Queue()
    talk = Conversation(service, said.put)
    talk.hear({"id": 1, "path": "/explain", "body": {"row": {}}})
    message = said.get(timeout=WAIT)
    assert message["status"] == 422
    assert message["body"]["error"].endswith(".")
    talk.hear({"id": 2, "path": "/nowhere", "body": None})
    assert said.get(timeout=WAIT)["status"] == 404
    talk.close()


def test_a_search_tells_how_far_it_is_and_ends_when_cancelled(explainer: likely.Explainer) -> None:
    said: Queue[dict[str, Any]] = Queue()
    slow = Slow(explainer)
    talk = Conversation(slow, said.put)
    talk.hear({"id": 1, "path": "/explain", "body": {}})
    assert said.get(timeout=WAIT) == {
        "id": 1,
        "progress": {"best": 2.0, "bound": 1.0, "gap": 0.5, "seconds": 1.0, "nodes": 3},
    }
    talk.hear({"id": 1, "cancel": True})
    assert slow.ended.wait(WAIT)
    talk.hear({"id": 2, "path": "/nowhere", "body": None})
    rest = [said.get(timeout=WAIT)]
    while rest[-1].get("id") != 2:
        rest.append(said.get(timeout=WAIT))
    assert all("status" not in message for message in rest if message["id"] == 1)
    talk.close()


def test_the_widget(explainer: likely.Explainer, service: Service) -> None:
    pytest.importorskip("anywidget")
    row = dict((service.examples or [])[0])
    widget = explainer.widget(row, title="Applicant 1")
    said: Queue[dict[str, Any]] = Queue()
    widget._conversation._send = said.put
    assert widget.start == {"row": row}
    assert widget.about["title"] == "Applicant 1"
    assert [each["name"] for each in widget.about["features"]] == list(row)
    json.dumps(widget.about, allow_nan=False)
    widget._handle_custom_msg({"id": 3, "path": "/decide", "body": {"row": row}}, [])
    assert said.get(timeout=WAIT)["body"]["label"] == "bad"
    assert widget.explanation is None
    widget.close()
    assert explainer.widget().start == {}


def test_without_anywidget(explainer: likely.Explainer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "likely.page.widget", raising=False)
    with pytest.raises(MissingExtraError, match="widget"):
        explainer.widget()
