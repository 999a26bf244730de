import CLinux
import CTracing
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
            /// The page's memory.
            let file: OwnedDescriptor
            private let words: UnsafeRawPointer

            init(_ socket: String) throws {
                connection = try Connection(firstOf: [socket])
                _ = try connection.call("nowPlaying.map")
                file = OwnedDescriptor(try #require(connection.takeDescriptor()))
                page = try #require(MappedClock(file.number))
                words = try #require(linux_clock_page_map(file.number))
            }

            /// The sequence word as it is now. Of use while the writer is stopped.
            var sequence: UInt32 { words.load(as: UInt32.self) }
            /// Its address, which another process may change at any instant.
            var sequenceAddress: UnsafeRawPointer { words }

            deinit { linux_clock_page_unmap(words) }
        }

        /// Changes of the volume without end, each of which writes the page.
        private static func flood(_ socket: String) {
            guard let descriptor = try? UnixSocket.connect(socket) else { return }
            defer { close(descriptor) }
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
            var buffer = [UInt8](repeating: 0, count: 65536)
            var tenths = 5
            while true {
                tenths = 11 - tenths
                let request =
                    #"{"jsonrpc":"2.0","id":1,"method":"volume.set","params":{"volume":0.\#(tenths)}}"# + "\n"
                guard linux_send(descriptor, Array(request.utf8), request.utf8.count, nil, 0) > 0 else { return }
                repeat {
                    let count = read(descriptor, &buffer, buffer.count)
                    guard count > 0 else { return }
                    if buffer[count - 1] == UInt8(ascii: "\n") { break }
                } while true
            }
        }

        /// Stops the process between the odd and the even sequence. Its main thread writes the page.
        private static func stopWhileOdd(_ process: TestProcess, _ reader: Reader) -> Bool {
            guard tracing_stop_at_odd(process.pid, reader.file.number, reader.sequenceAddress, 50_000_000) else {
                return false
            }
            var status: Int32 = 0
            return waitpid(process.pid, &status, WUNTRACED) == process.pid && status & 0xff == 0x7f
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
            try #require(Self.stopWhileOdd(daemon.process, reader), "no write was met")
            // The daemon is stopped, not dead: no reader may accept the page, and the connection stays.
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
