import CLinux
import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import NowPlayingClient
import TestSupport
import Testing

extension Acceptance {
    /// The real daemon, killed while it writes its clock page.
    @Suite(.timeLimit(.minutes(5))) struct ClockKillTests {
        /// A reader with a connection and the page that came on it.
        private final class Reader {
            let connection: Connection
            let page: MappedClock
            private let words: UnsafeRawPointer

            init(_ socket: String) throws {
                connection = try Connection(firstOf: [socket])
                _ = try connection.call("nowPlaying.map")
                let file = OwnedDescriptor(try #require(connection.takeDescriptor()))
                page = try #require(MappedClock(file.number))
                words = try #require(linux_clock_page_map(file.number))
            }

            /// The sequence word as it is now. Of use while the writer is stopped.
            var sequence: UInt32 { words.load(as: UInt32.self) }

            deinit { linux_clock_page_unmap(words) }
        }

        /// Changes of the volume without end, a hundred in each line, each of which writes the page.
        private static func flood(_ socket: String) {
            let steps = (0..<100).map {
                #"{"jsonrpc":"2.0","id":\#($0),"method":"volume.set","params":{"volume":0.\#(1 + $0 % 9)}}"#
            }
            let line = Array("[\(steps.joined(separator: ","))]\n".utf8)
            guard let descriptor = try? UnixSocket.connect(socket) else { return }
            defer { close(descriptor) }
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
            var buffer = [UInt8](repeating: 0, count: 65536)
            while linux_send(descriptor, line, line.count, nil, 0) == line.count {
                repeat {
                    let count = read(descriptor, &buffer, buffer.count)
                    guard count > 0 else { return }
                    if buffer[count - 1] == UInt8(ascii: "\n") { break }
                } while true
            }
        }

        /// Stops the process again and again until it stands between the odd and the even sequence. The kernel stops a
        /// process at any instruction, so that is a matter of turns: of each thousand some hit.
        private static func stopWhileOdd(_ process: TestProcess, _ reader: Reader) -> Bool {
            var random = SeededRandom(seed: 1)
            for _ in 0..<400_000 {
                process.signal(SIGSTOP)
                var status: Int32 = 0
                guard waitpid(process.pid, &status, WUNTRACED) == process.pid, status & 0xff == 0x7f else {
                    return false
                }
                if reader.sequence % 2 == 1 { return true }
                process.signal(SIGCONT)
                let end = MonotonicTime.now.nanoseconds + Int64.random(in: 20_000..<200_000, using: &random)
                while MonotonicTime.now.nanoseconds < end {}
            }
            return false
        }

        @Test("the page is not read, every reader sees the end of its connection, and a new daemon has a new page")
        func killed() async throws {
            let daemon = await RealDaemon.silent()
            let item = daemon.folder.silence("a.wav", seconds: 600)
            let client = daemon.connect()
            client.call("play", ["uri": .string(item)])
            let reader = try Reader(daemon.socket)
            let command = [
                RealDaemon.program("nowplayingctl"), "--socket", daemon.socket, "clock", "--map", "--rate", "1",
            ]
            let tool = await LoopThread.run { TestProcess(command, output: true) }
            #expect(tool.line { $0.hasSuffix("playing") } != nil)
            let socket = daemon.socket
            let isStarted = DetachedThread.start("flood") { Self.flood(socket) }
            try #require(isStarted)
            try #require(Self.stopWhileOdd(daemon.process, reader), "never stopped in the middle of a write")
            // It is stopped, not dead: nobody may take the page for whole, and its connection stands.
            #expect(reader.page.read() == nil)
            #expect(!reader.connection.hasEnded)
            daemon.process.signal(SIGKILL)
            #expect(daemon.process.wait() == 128 + SIGKILL)
            #expect(reader.sequence % 2 == 1)
            #expect(reader.page.read() == nil)
            #expect(reader.connection.hasEnded)
            // The program has read the page and sees the end by itself.
            _ = tool.readAll()
            #expect(tool.wait() == ExitNumbers.noDaemon)
            let next = await RealDaemon.start(nil, output: "null", in: daemon.folder)
            let fresh = try Reader(next.socket)
            #expect(fresh.page.read()?.pid == UInt32(next.process.pid))
            #expect(reader.page.read() == nil)
            #expect(next.stop() == 0)
        }

        /// As nowplayingctl(1) has them.
        private enum ExitNumbers { static let noDaemon: Int32 = 8 }
    }
}
