"""A radio station of our own: it sends in advance what Icecast does, and then each piece when it is due."""
import http.server
import threading
import time

BURST = 64 << 10


class Station:
    """`with Station(bytes, bytes_per_second, content_type) as station: station.url`"""

    def __init__(self, audio, rate, kind, every=0.026):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.0"

            def do_GET(self):
                self.send_response(200)
                for field in (("Content-Type", kind), ("icy-name", "Bench"), ("icy-br", str(rate * 8 // 1000))):
                    self.send_header(*field)
                self.end_headers()
                begun, sent = time.monotonic(), 0
                try:
                    while True:
                        due = BURST + int((time.monotonic() - begun) * rate)
                        while sent < due:
                            at = sent % len(audio)
                            piece = audio[at:at + due - sent]
                            self.wfile.write(piece)
                            sent += len(piece)
                        time.sleep(every)
                except OSError:
                    pass

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/live"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
