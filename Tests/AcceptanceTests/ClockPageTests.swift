import CLinux
import ControlProtocol
import Glibc
import LinuxSystem
import NowPlayingClient
import Synchronization
import TestSupport
import Testing

extension Acceptance {
    /// The clock page of the real daemon: it agrees with the socket, and wakes its readers.
    @Suite(.timeLimit(.minutes(5))) struct ClockPageTests {
        /// A connection with a page.
        private final class Reader {
            let connection: Connection
            let page: MappedClock
            /// The descriptor that came.
            let file: OwnedDescriptor

            init(_ daemon: RealDaemon, session: String? = nil) throws {
                connection = try Connection(firstOf: [daemon.socket])
                let answer = try connection.call("nowPlaying.map", session.map { ["session": .string($0)] })
                #expect(answer == ["layout": 1, "size": 4096])
                file = OwnedDescriptor(try #require(connection.takeDescriptor()))
                page = try #require(MappedClock(file.number))
            }
        }

        /// Threads that the page has woken.
        private final class Woken: Sendable { let count = Atomic(0) }

        @Test("after each command the page has the anchor of the state")
        func everyEvent() async throws {
            let daemon = await RealDaemon.silent()
            let items = ["a.wav", "b.wav"].map { daemon.folder.silence($0, seconds: 60) }
            let client = daemon.connect()
            let reader = try Reader(daemon)
            #expect(try #require(reader.page.read()).state == NOWPLAYINGD_CLOCK_STOPPED.rawValue)
            let deeds: [(String, JSONValue)] = [
                ("queue.add", ["items": .array(items.map { .string($0) }), "play": true]), ("pause", [:]),
                ("changePlaybackPosition", ["position": 12.5]), ("play", [:]), ("changePlaybackRate", ["rate": 1.5]),
                ("volume.set", ["volume": 0.25]), ("volume.set", ["muted": true]), ("nextTrack", [:]), ("stop", [:]),
            ]
            for (method, parameters) in deeds {
                #expect(client.call(method, parameters) != nil, "\(method)")
                let state = try #require(client.call("nowPlaying.get"))
                let clock = try #require(reader.page.read())
                #expect(clock.seq == UInt64(state["seq"]?.integerValue ?? 0), "\(method)")
                let anchor = try #require(state["anchor"])
                #expect(Self.isNear(clock.elapsed, anchor["elapsed"]))
                #expect(Self.isNear(clock.monotonic, anchor["monotonic"]))
                #expect(clock.rate == anchor["rate"]?.doubleValue)
                #expect(clock.default_rate == anchor["defaultRate"]?.doubleValue)
                #expect(clock.volume == state["volume"]?.doubleValue)
                #expect(clock.flags == (state["muted"] == true ? 1 : 0))
                #expect(clock.item == state["item"]?["id"]?.integerValue ?? 0, "\(method)")
                let hasItem = state["item"] != nil && state["item"] != .null
                #expect(clock.duration == (hasItem ? 60_000_000_000 : -1), "\(method)")
                #expect(Self.isNear(clock.next_item, state["upcoming"]?["monotonic"]), "\(method)")
                #expect(clock.pid == UInt32(daemon.process.pid))
                let instance = state["instance"]?.stringValue.flatMap { UInt64($0, radix: 16) }
                #expect(clock.instance == instance)
            }
            #expect(daemon.stop() == 0)
        }

        @Test("a reader cannot change the page, its length or its seals")
        func protection() async throws {
            let daemon = await RealDaemon.silent()
            let file = try Reader(daemon).file.number
            // By its own path, as by the descriptor.
            let again = linux_open("/proc/self/fd/\(file)", O_RDWR | O_CLOEXEC, 0)
            defer { close(again) }
            for descriptor in [file, again] where descriptor >= 0 {
                var byte: UInt8 = 1
                #expect(pwrite(descriptor, &byte, 1, 0) < 0)
                #expect(ftruncate(descriptor, 0) < 0)
                #expect(linux_punch_hole(descriptor, 0, 4096) < 0)
                #expect(linux_seal(descriptor) < 0)
                #expect(mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0) == MAP_FAILED)
            }
            #expect(daemon.stop() == 0)
        }

        @Test("a pause wakes everybody who waits, and a rest wakes nobody")
        func waking() async throws {
            let daemon = await RealDaemon.silent()
            let item = daemon.folder.silence("a.wav", seconds: 600)
            let client = daemon.connect()
            client.call("play", ["uri": .string(item)])
            let reader = try Reader(daemon)
            let before = try #require(reader.page.read())
            let woken = Woken()
            let page = reader.page
            for _ in 0..<100 {
                let isStarted = DetachedThread.start("waiter") {
                    // A wait may return early: the wake of the event before comes when its thread has the processor.
                    while page.read()?.sequence == before.sequence { page.sleep(after: before, 20_000_000_000) }
                    woken.count.add(1, ordering: .relaxed)
                }
                #expect(isStarted)
            }
            client.call("pause")
            #expect(becomes { woken.count.load(ordering: .relaxed) == 100 })
            #expect(standsStill { daemon.contextSwitches })
            let rest = try #require(reader.page.read())
            let switches = daemon.contextSwitches
            reader.page.sleep(after: rest, 2_000_000_000)
            #expect(daemon.contextSwitches == switches)
            #expect(reader.page.read()?.sequence == rest.sequence)
            #expect(daemon.stop() == 0)
        }

        @Test("one page follows the active session, the other ends with its own")
        func sessions() async throws {
            let daemon = await RealDaemon.silent()
            let item = daemon.folder.silence("a.wav", seconds: 60)
            let client = daemon.connect()
            client.call("session.create", ["name": "guest"])
            let (follower, guest) = (try Reader(daemon), try Reader(daemon, session: "guest"))
            client.call("play", ["uri": .string(item), "session": "guest"])
            #expect(becomes { follower.page.read()?.state == NOWPLAYINGD_CLOCK_PLAYING.rawValue })
            #expect(guest.page.read()?.seq == follower.page.read()?.seq)
            client.call("session.close", ["name": "guest"])
            #expect(guest.page.read()?.state == NOWPLAYINGD_CLOCK_ENDED.rawValue)
            #expect(follower.page.read()?.state == NOWPLAYINGD_CLOCK_STOPPED.rawValue)
            #expect(client.refusal("nowPlaying.map", ["session": "guest"]) == "100 noSession")
            #expect(!guest.connection.hasEnded)
            #expect(daemon.stop() == 0)
        }

        @Test("a reader learns of a killed daemon by its connection")
        func killed() async throws {
            let daemon = await RealDaemon.silent()
            let reader = try Reader(daemon)
            #expect(!reader.connection.hasEnded)
            daemon.process.end()
            #expect(becomes { reader.connection.hasEnded })
            // The memory of a dead daemon exists while a process maps it.
            #expect(reader.page.read()?.layout == 1)
        }

        @Test("nowplayingctl follows the page until the session is closed")
        func commandLine() async throws {
            let daemon = await RealDaemon.silent()
            let item = daemon.folder.silence("a.wav", seconds: 60)
            let client = daemon.connect()
            client.call("session.create", ["name": "guest"])
            client.call("play", ["uri": .string(item), "session": "guest"])
            let program = RealDaemon.program("nowplayingctl")
            let words = [program, "--socket", daemon.socket, "--session", "guest", "clock"]
            let tool = await LoopThread.run { TestProcess(words + ["--map", "--rate", "1000"], output: true) }
            var last = -1.0
            for _ in 0..<200 {
                let line = try #require(tool.line { $0.hasSuffix("60 playing") })
                let elapsed = try #require(line.split(separator: " ").first.flatMap { Double($0) })
                #expect(elapsed >= last)
                last = elapsed
            }
            #expect(last > 0)
            client.call("session.close", ["name": "guest"])
            #expect(tool.readAll().hasSuffix(" ended\n"))
            #expect(tool.wait() == 0)
            let refused = await LoopThread.run { TestProcess.run(words + ["--rate", "5"]).status }
            #expect(refused == 2)
            #expect(daemon.stop() == 0)
        }

        @Test("nowplayingctl sleeps while the position stands, and sees each change and the end of a killed daemon")
        func commandLineAtRest() async throws {
            let daemon = await RealDaemon.silent()
            let client = daemon.connect()
            client.call("play", ["uri": .string(daemon.folder.silence("a.wav", seconds: 60))])
            client.call("pause")
            client.call("changePlaybackPosition", ["position": 30])
            let words = [RealDaemon.program("nowplayingctl"), "--socket", daemon.socket, "clock", "--map"]
            let tool = await LoopThread.run { TestProcess(words, output: true) }
            #expect(tool.line { _ in true } == "30 60 paused")
            #expect(standsStill(seconds: 3) { tool.contextSwitches })
            client.call("changePlaybackPosition", ["position": 40])
            #expect(tool.line { $0 == "40 60 paused" } != nil)
            #expect(standsStill(seconds: 3) { tool.contextSwitches })
            daemon.process.signal(SIGKILL)
            #expect(daemon.process.wait() == 128 + SIGKILL)
            #expect(tool.readAll().isEmpty)
            #expect(tool.wait() == 8)
        }

        @Test("the sample in C is compiled without a warning and follows the page")
        func sample() async throws {
            let daemon = await RealDaemon.silent()
            let item = daemon.folder.silence("a.wav", seconds: 60)
            let client = daemon.connect()
            client.call("play", ["uri": .string(item)])
            client.call("pause")
            client.call("changePlaybackPosition", ["position": 30])
            let root = String(#filePath.dropLast("Tests/AcceptanceTests/ClockPageTests.swift".count))
            let program = daemon.folder.path("clock-position")
            let words = [
                "-Wall", "-Wextra", "-Werror", "-I", root + "etc/include", "-o", program,
                root + "etc/recipes/clock-position.c",
            ]
            let isBuilt = ["clang", "cc", "gcc"].contains { AudioMaterial.run($0, words) == 0 }
            try #require(isBuilt, "no C compiler makes clock-position of \(root)")
            let socket = daemon.socket
            let tool = await LoopThread.run { TestProcess([program, socket], output: true) }
            #expect(tool.line { _ in true } == "30.000")
            client.call("play")
            #expect(tool.line { Double($0) ?? 0 > 30.01 } != nil)
            #expect(daemon.stop() == 0)
            _ = tool.readAll()
            #expect(tool.wait() == 0)
        }

        private static func isNear(_ nanoseconds: Int64, _ seconds: JSONValue?) -> Bool {
            abs(Double(nanoseconds) / 1e9 - (seconds?.doubleValue ?? 0)) < 1e-6
        }
    }
}
