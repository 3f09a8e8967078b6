"""moto as an S3 server, a request at a time: it compares a condition and writes in two steps."""

import logging
import sys

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = make_server("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app))
print(server.server_port, flush=True)
# The test holds the other end: it ends with the test, however that ends.
import threading  # noqa: E402

threading.Thread(target=lambda: (sys.stdin.read(), server.shutdown()), daemon=True).start()
server.serve_forever()
