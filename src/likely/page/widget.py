"""The page in a notebook, by anywidget. The one file that knows it."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from likely.errors import MissingExtraError
from likely.explain import Explainer, Explanation
from likely.page.bundling import bundled
from likely.page.conversation import Conversation
from likely.serve import Service
from likely.serve.telling import row_told

try:
    import anywidget
    import traitlets
except ImportError:
    raise MissingExtraError("anywidget", "widget", "show a widget in a notebook") from None


class Widget(anywidget.AnyWidget):
    """Asks an explainer about a row, in a notebook: the page of `likely serve`, answered by the kernel.

    Args:
        explainer: A fitted explainer.
        row: The row to begin with; left out, one that is drawn from the density.
        title: What the widget is called.
    """

    _esm = bundled("widget.js")
    _css = files("likely.page").joinpath("style.css").read_text(encoding="utf-8")
    #: What the components know before they ask, and the state that they begin with.
    about = traitlets.Dict().tag(sync=True)
    start = traitlets.Dict().tag(sync=True)

    def __init__(self, explainer: Explainer, row: Any = None, *, title: str = "") -> None:
        quiet = explainer.remembering().set_params(progress=False)  # the components show how far a search is
        service = Service(quiet, title)
        schema = quiet.schema_
        start = {} if row is None else {"row": row_told(schema, schema.encode_row(row))}
        super().__init__(about=service.reply("/about").body, start=start)
        self._conversation = Conversation(service, self.send)
        self.on_msg(self._hear)

    def _hear(self, widget: Any, message: dict[str, Any], buffers: Any) -> None:
        self._conversation.hear(message)

    @property
    def explanation(self) -> Explanation | None:
        """The newest answer that the widget shows, to go on with in Python; None before the first."""
        return self._conversation.explanation

    def close(self) -> None:
        """Remove the widget, and end its searches."""
        self._conversation.close()
        super().close()
