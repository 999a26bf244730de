package import AudioCore
import CLinux
import ChildDecoding
import Glibc
import LinuxSystem
import NowPlaying
import Synchronization
import TrackReading

/// The process that reads the facts of files for this one: nowplaying-tags, confined. It starts with the first file,
/// reads one file after the other, and ends with `end()`. Its answers are treated as hostile.
package final class FactsChild: Sendable {
    /// The result for a file.
    package enum Outcome: Equatable, Sendable {
        case found(FileFacts)
        /// nowplaying-decode reads files of this kind.
        case isForeign
        case refused(DecodingError)
        /// The child crashed, sent an invalid answer, or computed for too long.
        case lost
        /// The child waits for a disk that does not answer.
        case hung
        /// There is no child; the text has the reason.
        case unavailable(String)
    }

    /// Name of the program.
    package static let name = "nowplaying-tags"
    /// Its absolute path; nil: it is not installed.
    package static let path = DecodeProgram.find(name)

    /// A child that runs, and our end of the socket to it.
    private struct Running {
        let process: ChildProcess
        let socket: OwnedDescriptor
        /// Its last argument: the character set of old tags.
        let charset: [String]
    }

    private struct State {
        var running: Running?
        /// Number of calls of `end`.
        var ends = 0
    }

    private let program: String?
    private let patience: Double
    private let state = Mutex(State())

    /// Starts nothing yet. `program` replaces nowplaying-tags; `patience`: limit for a file in seconds of processor
    /// time, and limit for a silent disk in seconds.
    package init(program: String? = FactsChild.path, patience: Double = 5) {
        self.program = program
        self.patience = patience
    }

    /// Pid of a child that waits for a file; nil: there is none.
    package var process: Int32? { state.withLock { $0.running?.process.pid } }

    /// Ends the child if it waits for a file; a child that reads ends after that. Any thread.
    package func end() {
        // The child ends outside the lock.
        let ended = state.withLock { state in
            state.ends += 1
            return state.running.take()
        }
        withExtendedLifetime(ended) {}
    }

    /// Reads the facts of a file. Blocks; one thread at a time.
    package func read(_ file: MediaFile, _ extent: FileFacts.Extent) -> Outcome {
        let (kept, ends) = state.withLock { ($0.running.take(), $0.ends) }
        let child: Running
        do throws(SystemError) {
            if let kept, kept.charset == LegacyText.argument { child = kept } else { child = try start() }
        } catch {
            return .unavailable("cannot start \(Self.name): \(error.message)")
        }
        let order = FactsOrder(extent).bytes
        guard linux_send(child.socket.number, order, order.count, [file.descriptor], 1) == order.count else {
            return .lost
        }
        let outcome = answer(of: child, extent)
        switch outcome {
        case .found, .isForeign, .refused: state.withLock { if $0.ends == ends { $0.running = child } }
        case .lost, .hung, .unavailable: break
        }
        return outcome
    }

    private func start() throws(SystemError) -> Running {
        guard let program else { throw SystemError("find \(Self.name)", code: ENOENT) }
        var ends: [Int32] = [-1, -1]
        guard linux_socket_pair(&ends) == 0 else { throw SystemError("make a socket") }
        let socket = OwnedDescriptor(ends[0])
        defer { close(ends[1]) }
        let charset = LegacyText.argument
        let process = try ChildProcess.start(program, [String(getpid())] + charset, descriptors: [ends[1]])
        return Running(process: process, socket: socket, charset: charset)
    }

    /// Waits for the answer while the child computes, up to the limits.
    private func answer(of child: Running, _ extent: FileFacts.Extent) -> Outcome {
        var limit = FactsLimit(of: child.process.pid, patience: patience)
        var bytes: [UInt8] = []
        while true {
            do throws(WireError) {
                switch try receive(from: child, &bytes, extent) {
                case .some(let outcome): return outcome
                case nil: break
                }
            } catch { return .lost }
            var polled = pollfd(fd: child.socket.number, events: Int16(POLLIN), revents: 0)
            if poll(&polled, 1, Int32(clamping: FactsLimit.slice * 1000)) > 0 { continue }
            switch limit.check() {
            case .mayAnswer: break
            case .hangs: return .hung
            case .isLost: return .lost
            }
        }
    }

    /// Takes the bytes that have come. Nil: the answer is not complete. Throws `WireError` for an invalid answer.
    private func receive(
        from child: Running, _ bytes: inout [UInt8], _ extent: FileFacts.Extent
    ) throws(WireError) -> Outcome? {
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(child.socket.number, &piece, piece.count, Int32(MSG_DONTWAIT))
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return nil }
            guard count > 0 else { return .lost }
            bytes += piece[..<count]
            guard bytes.count >= FactsAnswer.headerBytes else { continue }
            let announced = try FactsAnswer.count(bytes.prefix(FactsAnswer.headerBytes), extent)
            let length = FactsAnswer.headerBytes + announced
            guard bytes.count <= length else { throw WireError("more than one answer") }
            guard bytes.count == length else { continue }
            switch try FactsAnswer(bytes, extent) {
            case .found(let facts): return .found(facts)
            case .isForeign: return .isForeign
            case .refused(let error): return .refused(error)
            }
        }
    }
}
