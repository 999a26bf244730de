import ControlProtocol
import Glibc
import NowPlaying
import TestSupport
import Testing

extension Acceptance {
    /// Ten thousand waiters on the clock page, of a program that means harm: they wait again as soon as they are awake.
    @Suite(.timeLimit(.minutes(5))) struct ClockCrowdTests {
        private static let threads = 80
        private static let waitersOfThread = 128

        /// Waits at 128 places of the page's word in each of its threads (futex_waitv(2)), again and again. Writes a line when
        /// all of them wait.
        private static let crowd = """
            import ctypes, glob, mmap, socket, struct, sys, threading
            path, threads, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
            daemon = socket.socket(socket.AF_UNIX); daemon.connect(path)
            daemon.sendall(b'{"jsonrpc":"2.0","id":1,"method":"nowPlaying.map"}\\n')
            _, files, _, _ = socket.recv_fds(daemon, 65536, 1)
            page = mmap.mmap(files[0], 4096, prot=mmap.PROT_READ, flags=mmap.MAP_SHARED)
            libc = ctypes.CDLL(None, use_errno=True)
            libc.mmap.restype = ctypes.c_void_p
            address = libc.mmap(None, ctypes.c_size_t(4096), 1, 1, files[0], ctypes.c_long(0))
            begun = threading.Barrier(threads + 1)
            def wait(is_first=True):
                while True:
                    seen = struct.unpack_from("=I", page)[0]
                    waiters = ctypes.create_string_buffer(struct.pack("=QQII", seen, address, 2, 0) * count)
                    if is_first: begun.wait(); is_first = False
                    libc.syscall(449, waiters, count, 0, None, 1)
            for _ in range(threads): threading.Thread(target=wait, daemon=True).start()
            begun.wait()
            def waiting(path):
                try: return open(path).read().startswith("449 ")
                except OSError: return False
            while sum(map(waiting, glob.glob("/proc/self/task/*/syscall"))) < threads: pass
            print("begun", flush=True); threading.Event().wait()
            """

        /// Names of the calls of the daemon's loop from the reading of each pause to its answer, in strace's text. A turn of the
        /// loop carries out one thing. Turns for a timer or a report of another thread, which read its count of 8 bytes, and
        /// for the start of a worker come at any instant: they are left out, and so are the calls of the turns themselves and
        /// of locks.
        private static func calls(_ text: String, of process: pid_t) -> [[String]] {
            var found: [[String]] = []
            var turn: [String] = []
            var isInside = false
            var isReport = false
            for line in text.split(separator: "\n") where line.hasPrefix("\(process) ") {
                // `PID name(…) = 0`, or where another thread came between: `PID name(… <unfinished ...>`, and later
                // `PID <... name resumed>…) = 0`.
                guard !line.hasSuffix("<unfinished ...>") else { continue }
                let words = line.split(separator: " ", maxSplits: 3)
                guard words.count > 2 else { continue }
                let name = String(words[1] == "<..." ? words[2] : words[1].prefix { $0 != "(" })
                switch name {
                case "epoll_wait", "epoll_pwait2":
                    if isInside, !isReport { found[found.count - 1] += turn }
                    turn = []
                    isReport = false
                case "futex", "gettid", "timerfd_settime": break
                case "read" where line.contains(", 8) "), "clone3": isReport = true
                default: turn.append(name)
                }
                // Any ready source's turn of the loop also reads an expired timer.
                if line.contains(#"method\":\"pause"#) {
                    isInside = true
                    isReport = false
                    found.append([])
                }
                if isInside, name == "sendto" || name == "sendmsg" {
                    found[found.count - 1] += turn
                    isInside = false
                }
            }
            return found
        }

        /// Number of waiters that each call for all of them woke, in strace's text.
        private static func wakes(_ text: String) -> [Int] {
            var begun: Set<Substring> = []
            return text.split(separator: "\n").compactMap { line in
                let thread = line.prefix { $0 != " " }
                let isWake = line.contains("FUTEX_WAKE, 2147483647")
                if isWake, line.hasSuffix("<unfinished ...>") {
                    begun.insert(thread)
                    return nil
                }
                let isEnd = line.contains("<... futex resumed>") && begun.remove(thread) != nil
                guard isWake || isEnd else { return nil }
                return line.split(separator: " ").last.flatMap { Int($0) }
            }
        }

        @Test("a pause costs the daemon the same calls as without them, and one call wakes them all")
        func pause() async throws {
            let folder = TemporaryFolder()
            let trace = folder.path("trace")
            let daemon = await RealDaemon.start(
                nil, output: "null", in: folder, readsTitles: false,
                before: ["strace", "-D", "-qq", "-f", "-s", "200", "-o", trace])
            let client = daemon.connect()
            client.call("queue.add", ["items": daemon.silences(60), "play": true])
            // A page, so that both halves write one.
            let reader = daemon.connect()
            reader.call("nowPlaying.map")
            let rounds = 10
            func pauses() {
                for _ in 0..<rounds {
                    client.call("pause")
                    client.call("play")
                }
            }
            pauses()
            let arguments = [
                "/usr/bin/python3", "-c", Self.crowd, daemon.socket, "\(Self.threads)", "\(Self.waitersOfThread)",
            ]
            let crowd = await LoopThread.run { TestProcess(arguments, output: true) }
            defer { crowd.end() }
            #expect(crowd.line { $0 == "begun" } != nil)
            pauses()
            crowd.end()
            withExtendedLifetime(reader) {}
            #expect(daemon.stop() == 0)
            let text = String(decoding: folder.read("trace"), as: UTF8.self)
            let found = Self.calls(text, of: daemon.process.pid)
            try #require(found.count == 2 * rounds)
            #expect(Set(found.map { $0.joined(separator: " ") }).count == 1, "\(found)")
            // One wake for each order at most, however many wait.
            let wakes = Self.wakes(text)
            #expect(wakes.count <= 4 * rounds + 10, "\(wakes)")
            // All of the crowd at the first pause, and later those that have come back to wait.
            #expect(wakes.contains { $0 >= Self.waitersOfThread * Self.threads }, "\(wakes)")
        }
    }
}
