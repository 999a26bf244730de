package import AudioCore
import CLinux
package import ChildDecoding
import Glibc
import LinuxSystem
import NowPlaying
import Synchronization
import TrackReading

/// Measures the loudness of files by nowplaying-decode, one at a time and at the lowest priority. Its messages are treated as
/// hostile. It blocks, and any thread can end it.
package final class LoudnessReading: Sendable {
    /// The result for one file.
    package enum Outcome: Equatable, Sendable {
        case measured(WireLoudness)
        /// The file cannot be decoded, for this reason.
        case refused(String)
        /// The program died at this file.
        case died
        /// The program waits for the file's disk.
        case waits
        /// The measuring was ended.
        case ended
    }

    private struct State {
        var socket: OwnedDescriptor?
        var isEnded = false
    }

    /// Seconds between two looks at a silent program. It reports every 8 seconds that it works.
    private static let look = 15.0
    /// Seconds of processor time for which a program may be silent: it hangs.
    private static let hang = 60.0
    /// Looks in a row at which a program waits for its disk.
    private static let mostWaits = 4

    private let program: String?
    private let state = Mutex(State())

    /// Prepares the measuring by `program`; starts nothing.
    package init(program: String? = DecodeProgram.path) { self.program = program }

    /// Ends the measuring for good, at once. Any thread.
    package func end() {
        state.withLock { state in
            state.isEnded = true
            if let socket = state.socket { linux_shut_down(socket.number) }
        }
    }

    /// True after `end`. Any thread.
    package var isEnded: Bool { state.withLock { $0.isEnded } }

    /// Decodes an open file to its end, which the caller keeps. Throws `.unavailable` if the program cannot be started.
    package func measure(_ file: Int32) throws(DecodingError) -> Outcome {
        if isEnded { return .ended }
        let (process, socket) = try DecodeProgram.startMeasuring(program, file: file)
        defer { withExtendedLifetime(process) {} }
        state.withLock { $0.socket = socket }
        defer { state.withLock { $0.socket = nil } }
        if isEnded { return .ended }
        let messages = ChildMessages(socket.number)
        do throws(WireError) {
            return try answer(messages, process.pid)
        } catch {
            if isEnded { return .ended }
            return messages.isClosed ? .died : .refused("the program that measures it sent \(error.message)")
        }
    }

    /// Waits for the result. Throws `WireError` for invalid messages, and at the end of the process.
    private func answer(_ messages: ChildMessages, _ pid: Int32) throws(WireError) -> Outcome {
        var computed = ChildProcess.processorTime(of: pid)
        var waits = 0
        while true {
            if let message = try messages.next() {
                guard case .body(let kind, let body) = message else { throw WireError("audio instead of loudness") }
                switch kind {
                case .measured: return .measured(try WireLoudness(body))
                case .failed:
                    let text = TagText.text(Array(try WireFailure(body).message.utf8))
                    return .refused(text ?? "it cannot be decoded")
                case .progress:
                    computed = ChildProcess.processorTime(of: pid)
                    waits = 0
                case .open, .seek, .look, .measure, .opened, .audio, .metadata, .seeked, .end, .beginning, .picture,
                    .piece:
                    throw WireError("an unexpected message")
                }
                continue
            }
            if messages.wait(until: EventLoop.now.advanced(bySeconds: Self.look)) { continue }
            // A program that gets no processor on a busy machine waits for as long as that lasts.
            waits = ChildProcess.isRunnable(pid) ? 0 : waits + 1
            if waits == Self.mostWaits { return .waits }
            if Double(ChildProcess.processorTime(of: pid) - computed) / 1e9 > Self.hang {
                return .refused("it takes too long to decode")
            }
        }
    }
}
