import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

/// The library beside a daemon whose socket a service manager keeps.
@Suite(.timeLimit(.minutes(5))) struct ActivationTests {
    /// A stand-in for systemd with a socket unit: it keeps the socket, and starts the daemon for the first client.
    private static let manager = """
        import os, select, socket, sys
        path, *words = sys.argv[1:]
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(path)
        listener.listen(16)
        while True:
            print("listening", flush=True)
            select.select([listener], [], [])
            def hand():
                os.dup2(listener.fileno(), 3)
                os.set_inheritable(3, True)
                os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
                os.execvp(words[0], words)
            child = os.fork()
            if child == 0: hand()
            print("started", flush=True)
            print("ended", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        """

    private func state(_ client: RawClient) throws -> String? {
        try client.call("library.status")["result"]?["daemon"]?["state"]?.stringValue
    }

    @Test func itNeitherStartsTheDaemonNorKeepsItAndAddsToIt() async throws {
        let house = LibraryHouse(settings: "[daemon]\nidle-exit = 1\n")
        try house.fill([.init(place: "music/a.wav", title: "A")])
        let words =
            ["python3", "-c", Self.manager, house.daemonSocket] + LibraryHouse.daemonCommand(house)
        let manager = await LoopThread.run { TestProcess(words, output: true) }
        #expect(manager.line { $0 == "listening" } != nil)
        await house.startLibrary()
        let client = try RawClient(house.librarySocket)
        #expect(try state(client) == "absent")
        // Somebody needs the daemon: the library follows it.
        do {
            let somebody = try RawClient(house.daemonSocket)
            #expect(try somebody.call("nowPlaying.get")["result"] != nil)
            #expect(manager.line { $0 == "started" } != nil)
            #expect(try becomes { try state(client) == "connected" })
            _ = try somebody.call("feedback.set", ["uri": .string(house.uri("music/a.wav")), "rating": 4])
            #expect(
                try becomes {
                    let answer = try client.call("library.count", ["filter": ["rating": ["is": 4]]])
                    return answer["result"]?["tracks"] == 1
                })
        }
        // Nobody does: it ends, and is not started again.
        #expect(manager.line { $0 == "ended 0" } != nil)
        #expect(manager.line { $0 == "listening" } != nil)
        #expect(try becomes { try state(client) == "absent" })
        let library = try #require(house.process("nowplaying-library"))
        #expect(becomes { library.sleepsForASecond })
        #expect(access(BackgroundSocket.path(beside: house.daemonSocket), F_OK) != 0)
        // An addition needs it.
        let added = try client.call("library.add", ["filter": ["all": []]])
        #expect(added["result"]?["count"] == 1, "\(added)")
        #expect(manager.line { $0 == "started" } != nil)
        #expect(manager.line { $0 == "ended 0" } != nil)
        manager.signal(SIGTERM)
        manager.wait()
    }

    private func becomes(_ condition: () throws -> Bool) throws -> Bool {
        let end = EventLoop.now.advanced(bySeconds: 20)
        while EventLoop.now < end { if try condition() { return true } }
        return false
    }

    private func becomes(_ condition: () -> Bool) -> Bool { TestSupport.becomes(condition) }
}
