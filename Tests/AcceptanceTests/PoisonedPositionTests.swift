import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// A saved position that crashes the daemon at each start. A library in the daemon's process makes the FLAC decoder or the
    /// search for pictures crash while a file is there.
    @Suite(.timeLimit(.minutes(5))) struct PoisonedPositionTests {
        private let folder = TemporaryFolder()
        private let library: String
        /// Exit status of the daemon's crash after its restart.
        private static let fault = 128 + SIGSEGV

        init() throws {
            LoopThread.start()
            library = folder.path("crash.so")
            let source =
                String(#filePath.dropLast("AcceptanceTests/PoisonedPositionTests.swift".count)) + "Faults/crash.c"
            let library = library
            let isBuilt = ["clang", "cc", "gcc"].contains { compiler in
                let flags = ["-O1", "-shared", "-fPIC", "-o", library, source, "-Wl,--no-as-needed", "-lFLAC", "-ldl"]
                return AudioMaterial.run(compiler, flags) == 0
            }
            try #require(isBuilt, "no C compiler makes a library of \(source)")
            folder.file("conf", "[playback]\nresume = playing\n")
        }

        private func start() async -> RealDaemon {
            let variables = [
                "LD_PRELOAD": library, "CRASH_FILE": folder.path("crash"), "SWIFT_BACKTRACE": "enable=no",
            ]
            return await RealDaemon.start(
                nil, output: "null", in: folder, isLogged: true, variables: variables,
                ["--config", folder.path("conf")])
        }

        /// Starts a daemon, and returns its exit status when it has died by itself.
        private func death() async -> Int32 {
            let daemon = await start()
            let status = daemon.process.wait()
            // Its last reference ends it.
            return withExtendedLifetime(daemon) { status }
        }

        /// From now on the decoder dies of this signal, that many seconds ahead on the process's clock; 0: it lives.
        private func poison(_ number: Int32, ahead seconds: Int = 0) {
            unlink(folder.path("crash"))
            if number != 0 { folder.file("crash", "\(number) \(seconds)") }
        }

        /// From now on the search for pictures in this folder dies.
        private func poisonPictures(in album: String) { folder.file("crash", "\(SIGSEGV) 0 \(album)") }

        /// A daemon that plays a FLAC file of which it does not die yet, with a second item behind it.
        private func playing() async -> RealDaemon {
            poison(0)
            let daemon = await start()
            let client = daemon.connect()
            let items: JSONValue = [
                .string(folder.codeFLAC("poison.flac", from: 0, count: 44100 * 600)),
                .string(folder.silence("good.wav", seconds: 600)),
            ]
            client.call("queue.add", ["items": items, "play": true])
            #expect(state(of: client).playing == "playing")
            return daemon
        }

        /// The state once nothing is under way any more.
        private func state(of client: Client) -> JSONValue {
            var state = JSONValue.null
            #expect(
                becomes {
                    state = client.call("nowPlaying.get") ?? .null
                    return client.isBroken || ["playing", "paused"].contains(state.playing)
                })
            return state
        }

        @Test("it is entered twice, not a third time; play enters it, and a life that lasts clears the note")
        func poisoned() async throws {
            var daemon = await playing()
            daemon.process.signal(SIGKILL)
            daemon.process.wait()
            poison(SIGSEGV)
            for _ in 0..<2 { #expect(await death() == Self.fault) }
            for _ in 0..<2 {
                daemon = await start()
                let client = daemon.connect()
                // Longer than the decoder needs to crash.
                await LoopThread.wait(seconds: 1.5)
                let resting = state(of: client)
                #expect(resting.playing == "paused" && resting["queue"]?["count"] == 2, "\(resting)")
                #expect(resting["item"]?["uri"]?.stringValue?.hasSuffix(folder.path("poison.flac")) == true)
                #expect(resting["item"]?["artwork"] == nil)
                #expect(resting["error"]?["status"] == "commandFailed", "\(resting)")
                let words = try #require(resting["error"]?["message"]?.stringValue)
                #expect(words.hasPrefix("the daemon crashed 2 times within 10 seconds of its start"))
                #expect(client.call("diagnostics.get")?["rest"] == .string(words))
                #expect(String(decoding: folder.read("log"), as: UTF8.self).contains(words))
                let doctor = TestProcess.run(
                    [RealDaemon.program("nowplayingctl"), "--socket", daemon.socket, "doctor"])
                // The message comes once, and not again as the result of the item.
                #expect(doctor.text.ranges(of: "the daemon crashed 2 times").count == 1, "\(doctor.text)")
                // A clean end without a play leaves the place as dangerous as it was.
                #expect(daemon.stop() == 0)
            }
            poison(0)
            daemon = await start()
            let client = daemon.connect()
            client.call("play")
            let played = state(of: client)
            #expect(played.playing == "playing" && played["error"] == .null, "\(played)")
            #expect(client.call("diagnostics.get")?["rest"] == nil)
            #expect(daemon.stop() == 0)
            daemon = await start()
            #expect(state(of: daemon.connect()).playing == "playing")
            #expect(daemon.stop() == 0)
        }

        @Test("a picture search that ends the daemon twice is not made a third time until a client plays")
        func pictures() async throws {
            let album = folder.path("album")
            mkdir(album, 0o755)
            var daemon = await start()
            let item = JSONValue.string(folder.silence("album/good.wav", seconds: 600))
            daemon.connect().call("queue.add", ["items": [item], "play": true])
            #expect(state(of: daemon.connect()).playing == "playing")
            daemon.process.signal(SIGKILL)
            daemon.process.wait()
            poisonPictures(in: album)
            for _ in 0..<2 { #expect(await death() == Self.fault) }
            daemon = await start()
            let client = daemon.connect()
            // Longer than the search needs to crash.
            await LoopThread.wait(seconds: 1.5)
            let resting = state(of: client)
            #expect(resting.playing == "paused" && resting["queue"]?["count"] == 1, "\(resting)")
            #expect(resting["error"]?["message"]?.stringValue?.hasPrefix("the daemon crashed 2 times") == true)
            // Asked for, it is made.
            client.call("play")
            #expect(daemon.process.wait() == Self.fault)
            poison(0)
            daemon = await start()
            #expect(daemon.connect().call("play")?.playing == "playing")
            #expect(daemon.stop() == 0)
        }

        @Test(
            "each signal of a fault counts, and keeps its exit status",
            arguments: [SIGABRT, SIGILL, SIGBUS, SIGTRAP, SIGFPE])
        func signals(_ number: Int32) async {
            var daemon = await playing()
            daemon.process.signal(SIGKILL)
            daemon.process.wait()
            poison(number)
            #expect(await death() == 128 + number)
            #expect(folder.read("state/early-deaths").count == 1)
            poison(0)
            daemon = await start()
            #expect(state(of: daemon.connect()).playing == "playing")
            #expect(daemon.stop() == 0)
            #expect(folder.read("state/early-deaths").isEmpty)
        }

        @Test("SIGKILL does not count, nor does a death long after restoring", arguments: [SIGKILL, SIGSEGV])
        func others(_ number: Int32) async {
            var daemon = await playing()
            daemon.process.signal(SIGKILL)
            daemon.process.wait()
            poison(number, ahead: 11)
            for _ in 0..<2 { #expect(await death() == 128 + number) }
            poison(0)
            daemon = await start()
            #expect(state(of: daemon.connect()).playing == "playing")
            #expect(daemon.stop() == 0)
        }

        @Test(
            "ten seconds of play clear the note without a clean end", .enabled(if: environmentHas("NOWPLAYING_NIGHTLY"))
        )
        func longPlay() async {
            var daemon = await playing()
            daemon.process.signal(SIGKILL)
            daemon.process.wait()
            poison(SIGSEGV)
            for _ in 0..<2 { #expect(await death() == Self.fault) }
            poison(0)
            daemon = await start()
            daemon.connect().call("play")
            #expect(becomes { folder.read("state/early-deaths").isEmpty })
            daemon.process.signal(SIGKILL)
            daemon.process.wait()
            daemon = await start()
            #expect(state(of: daemon.connect()).playing == "playing")
            #expect(daemon.stop() == 0)
        }
    }
}
