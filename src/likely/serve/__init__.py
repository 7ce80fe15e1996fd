"""An explainer as a service: questions and answers as plain data, for HTTP and for notebooks.

`Service` answers requests and needs no other package. `likely.serve.app` is the web application (extra `serve`), and
`likely serve` runs it.
"""

from likely.serve.bodies import Bounds
from likely.serve.service import Reply, Service

__all__ = ["Bounds", "Reply", "Service"]
