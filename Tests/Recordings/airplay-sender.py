"""An AirPlay sender of two tracks of silence, without encryption; in the second it pauses for two seconds, and sends a
picture at last.
usage: airplay-sender.py PORT, where shairport-sync listens

shairport-sync-3.3.8.metadata is what shairport-sync 3.3.8 of Debian 12 wrote into its metadata pipe meanwhile, with
general = { output_backend = "dummy"; port = PORT; }; metadata = { enabled = "yes"; include_cover_art = "yes"; pipe_name = "..."; };
(it needs a system's D-Bus and avahi-daemon). The test of etc/adapters/shairport-session plays it back.
"""
import re, socket, struct, sys, threading, time

# A GIF of 3×2 pixels.
PICTURE = bytes.fromhex("47494638396103000200800000ff000000000021f90401000000002c00000000030002000002038c6f05003b")
HOST, PORT = "127.0.0.1", int(sys.argv[1])
control = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
control.bind((HOST, 0))
timing = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
timing.bind((HOST, 0))
rtsp = socket.create_connection((HOST, PORT), 5)
number = 0
session = False


def ask(method, uri, fields={}, body=b""):
    global number
    number += 1
    head = [f"{method} {uri} RTSP/1.0", f"CSeq: {number}", "User-Agent: iTunes/10.6 (Windows; N;)",
            "Client-Instance: 0011223344556677", "DACP-ID: 0011223344556677", "Active-Remote: 1234567890"]
    if session:
        head.append("Session: 1")
    head += [f"{k}: {v}" for k, v in fields.items()]
    if body:
        head.append(f"Content-Length: {len(body)}")
    rtsp.sendall(("\r\n".join(head) + "\r\n\r\n").encode() + body)
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += rtsp.recv(4096)
    text = answer.decode(errors="replace")
    print(method, text.split("\r\n")[0], file=sys.stderr)
    return text


uri = f"rtsp://{HOST}/1"
sdp = "\r\n".join(["v=0", f"o=iTunes 1 0 IN IP4 {HOST}", "s=iTunes", f"c=IN IP4 {HOST}", "t=0 0", "m=audio 0 RTP/AVP 96",
                   "a=rtpmap:96 AppleLossless", "a=fmtp:96 352 0 16 40 10 14 2 255 0 0 44100", ""]).encode()
ask("OPTIONS", "*")
ask("ANNOUNCE", uri, {"Content-Type": "application/sdp"}, sdp)
text = ask("SETUP", uri, {"Transport": "RTP/AVP/UDP;unicast;interleaved=0-1;mode=record;control_port=%d;timing_port=%d"
                          % (control.getsockname()[1], timing.getsockname()[1])})
session = True
ports = {name: int(port) for name, port in re.findall(r"(control|timing|server)_port=(\d+)", text)}
audio = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
stop = threading.Event()


def ntp():
    now = time.time() + 2208988800
    return struct.pack(">II", int(now), int((now % 1) * 2**32))


def answer_timing():
    while True:
        packet, peer = timing.recvfrom(2048)
        timing.sendto(b"\x80\xd3\x00\x07\0\0\0\0" + packet[24:32] + ntp() + ntp(), peer)


def send_sound(seconds, first):
    """Silence, two seconds ahead of what is heard."""
    begun = time.time()
    for packet in range(int(seconds * 44100 / 352)):
        if stop.is_set():
            return
        frame = (first + packet * 352) % 2**32
        if packet % 125 == 0:
            heard = struct.pack(">I", (frame - 77175) % 2**32)
            control.sendto(b"\x90\xd4\x00\x07" + heard + ntp() + struct.pack(">I", frame), (HOST, ports["control"]))
        head = b"\x80\x60" + struct.pack(">HII", (packet + 1) % 65536, frame, 1)
        # A frame of Apple Lossless that is not compressed: 23 bits, and the samples.
        audio.sendto(head + b"\x20\0\x02" + bytes(352 * 4 + 1), (HOST, ports["server"]))
        time.sleep(max(0, begun + packet * 352 / 44100 - time.time()))


def play(seconds, first):
    stop.clear()
    thread = threading.Thread(target=send_sound, args=(seconds, first), daemon=True)
    thread.start()
    return thread


def track(title, artist, album, first, here, last):
    def tag(code, data):
        return code + struct.pack(">I", len(data)) + data

    words = [(b"minm", title), (b"asar", artist), (b"asal", album), (b"asgn", "Jazz")]
    body = tag(b"mlit", b"".join(tag(code, text.encode()) for code, text in words))
    ask("SET_PARAMETER", uri, {"Content-Type": "application/x-dmap-tagged", "RTP-Info": f"rtptime={here}"}, body)
    ask("SET_PARAMETER", uri, {"Content-Type": "text/parameters"}, f"progress: {first}/{here}/{last}\r\n".encode())


threading.Thread(target=answer_timing, daemon=True).start()
ask("RECORD", uri, {"Range": "npt=0-", "RTP-Info": "seq=1;rtptime=1000000"})
ask("SET_PARAMETER", uri, {"Content-Type": "text/parameters"}, b"volume: -20.0\r\n")
sound = play(6, 1000000)
track("Giant Steps", "John Coltrane", "Giant Steps", 1000000, 1000000, 1000000 + 44100 * 286)
time.sleep(5)
track("Für Elise · ½", "Beethoven & Co", "Bagatelles <1>", 1000000 + 44100 * 5, 1000000 + 44100 * 5, 1000000 + 44100 * 185)
time.sleep(1)
stop.set()
sound.join()
ask("FLUSH", uri, {"RTP-Info": "seq=751;rtptime=1264352"})
time.sleep(2)
sound = play(4, 1264352)
time.sleep(2)
ask("SET_PARAMETER", uri, {"Content-Type": "image/gif", "RTP-Info": "rtptime=1264352"}, PICTURE)
time.sleep(2)
sound.join()
ask("TEARDOWN", uri)
time.sleep(0.5)
