import AudioDecoders
import CLinux
import Glibc
package import LinuxSystem
import NowPlaying
package import TrackReading

/// A confined process that reads the tracks of open files (nowplaying-tags), and its replacement after a loss. Its
/// answers are untrusted. One thread at a time; calls block.
package final class ReaderProcess {
    /// The result for one file.
    package enum Outcome: Equatable, Sendable {
        case found(TrackFacts)
        case refused(TrackReadingError)
        /// The process died twice at this file.
        case killed
        /// The process used the processor and did not answer in time.
        case hung
        /// The process waited for the file's disk, and did not answer in time.
        case waited
        /// The file was not sent, as the process waited for an earlier file.
        case unread
        /// The process sent an invalid answer.
        case lied(String)
    }

    private struct Running {
        let process: ChildProcess
        let socket: OwnedDescriptor
    }

    /// The time since a process has begun a file, and how much of it the process computed.
    private struct FileMeter {
        private let pid: Int32
        private let begun = EventLoop.now
        private let computed: Int64

        /// Starts now.
        init(_ pid: Int32) {
            self.pid = pid
            computed = ChildProcess.processorTime(of: pid)
        }

        var seconds: Double { EventLoop.now.seconds(since: begun) }
        /// The computed part of the time, from 0 to 1.
        var share: Double { Double(ChildProcess.processorTime(of: pid) - computed) / 1e9 / max(seconds, 1e-9) }
    }

    private enum Loss { case death, silence, wait, lie(String) }

    private let program: String?
    private let patience: Double
    private var running: Running?
    private var buffer: [UInt8] = []
    /// Processor time of the earlier processes in nanoseconds.
    private var computedBefore: Int64 = 0

    /// Seconds that a file may take.
    package static let patience = 10.0
    /// Seconds that a process may wait for a processor on a busy machine: a new one before it begins its first file, and each
    /// one at a file.
    private static let busyPatience = 60.0
    /// Least share of the time for which a process that hangs has computed. With less it waits for a disk or for a
    /// processor.
    private static let leastShare = 0.01
    /// Deaths in a row without a file as their cause.
    private static let mostDeaths = 3

    /// A reader without a process yet. `program`: path of nowplaying-tags; `patience`: seconds that a file may take.
    package init(program: String? = FactsChild.path, patience: Double = ReaderProcess.patience) {
        self.program = program
        self.patience = patience
    }

    /// Processor time of all processes so far in nanoseconds.
    package var processorTime: Int64 {
        computedBefore + (running.map { ChildProcess.processorTime(of: $0.process.pid) } ?? 0)
    }

    /// Pid of the present process; nil: none runs.
    package var pid: Int32? { running?.process.pid }

    /// Reads up to `TrackOrder.maximumFiles` open files: their outcomes, in this order. A file that ends the process
    /// affects no other file. `keepsComments`: with all fields of their tags. Throws if no process can be started.
    package func read(_ files: [Int32], keepsComments: Bool = false) throws(SystemError) -> [Outcome] {
        var outcomes = [Outcome?](repeating: nil, count: files.count)
        var suspect: Int?
        var deaths = 0
        while true {
            let open = files.indices.filter { outcomes[$0] == nil }
            guard !open.isEmpty else { return outcomes.compactMap { $0 } }
            // The file at which a process died is read once more, alone: the process may have died of another cause.
            let asked = suspect.map { [$0] } ?? open
            guard let loss = try ask(files, asked, keepsComments, &outcomes) else {
                suspect = nil
                continue
            }
            end()
            guard let culprit = asked.last(where: { outcomes[$0] == nil && Self.hasBegun(files[$0]) }) else {
                deaths += 1
                if deaths >= Self.mostDeaths { throw SystemError("keep \(FactsChild.name) running", code: ECHILD) }
                continue
            }
            switch loss {
            case .death where suspect == nil: suspect = culprit
            case .death: outcomes[culprit] = .killed
            case .silence: outcomes[culprit] = .hung
            case .wait:
                outcomes[culprit] = .waited
                return outcomes.map { $0 ?? .unread }
            case .lie(let words): outcomes[culprit] = .lied(words)
            }
            if outcomes[culprit] != nil { suspect = nil }
        }
    }

    /// True if the process has begun the file: it marks that by the position of the descriptor.
    private static func hasBegun(_ file: Int32) -> Bool { lseek(file, 0, Int32(SEEK_CUR)) == 1 }

    /// Ends the process, if one runs.
    package func end() {
        if let running { computedBefore += ChildProcess.processorTime(of: running.process.pid) }
        running = nil
        buffer = []
    }

    /// Sends these files to the process, and takes its answers. Nil: it has answered all.
    private func ask(
        _ files: [Int32], _ asked: [Int], _ keepsComments: Bool, _ outcomes: inout [Outcome?]
    ) throws(SystemError) -> Loss? {
        let child: Running
        var isStarting = running == nil
        if let running { child = running } else { child = try start() }
        running = child
        for index in asked { lseek(files[index], 0, Int32(SEEK_SET)) }
        let order = TrackOrder(files: asked.count, keepsComments: keepsComments).bytes
        guard
            linux_send(child.socket.number, order, order.count, asked.map { files[$0] }, Int32(asked.count))
                == order.count
        else { return .death }
        buffer.removeAll(keepingCapacity: true)
        var answered = 0
        let started = EventLoop.now
        var meter = FileMeter(child.process.pid)
        var due = started.advanced(bySeconds: patience)
        while answered < asked.count {
            let milliseconds = (due.seconds(since: EventLoop.now) * 1000).rounded(.up)
            guard milliseconds > 0 else {
                due = EventLoop.now.advanced(bySeconds: patience)
                // The time of the first file starts when the new process has begun it.
                if isStarting, EventLoop.now.seconds(since: started) < Self.busyPatience {
                    isStarting = !Self.hasBegun(files[asked[0]])
                    meter = FileMeter(child.process.pid)
                    continue
                }
                if meter.share >= Self.leastShare { return .silence }
                guard ChildProcess.isRunnable(child.process.pid), meter.seconds < Self.busyPatience else {
                    return .wait
                }
                continue
            }
            var polled = pollfd(fd: child.socket.number, events: Int16(POLLIN), revents: 0)
            guard poll(&polled, 1, Int32(clamping: min(milliseconds, 60_000))) > 0 else { continue }
            guard receive(child.socket.number) else { return .death }
            let before = answered
            do throws(TrackMessageError) { try take(asked, &answered, &outcomes) } catch { return .lie(error.message) }
            guard answered > before else { continue }
            isStarting = false
            due = EventLoop.now.advanced(bySeconds: patience)
            meter = FileMeter(child.process.pid)
        }
        return buffer.isEmpty ? nil : .lie("more answers than files")
    }

    /// Receives bytes. False: the process has ended.
    private func receive(_ socket: Int32) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 8) { piece in
            let count = recv(socket, piece.baseAddress, piece.count, Int32(MSG_DONTWAIT))
            if count < 0 { return errno == EINTR || errno == EAGAIN }
            buffer.append(contentsOf: UnsafeRawBufferPointer(rebasing: piece[..<count]))
            return count > 0
        }
    }

    /// Takes the complete answers, in the order of the files.
    private func take(
        _ asked: [Int], _ answered: inout Int, _ outcomes: inout [Outcome?]
    ) throws(TrackMessageError) {
        var used = 0
        var failure: TrackMessageError?
        buffer.withUnsafeBytes { bytes in
            do throws(TrackMessageError) {
                while answered < asked.count, bytes.count - used >= TrackAnswer.headerBytes {
                    let header = try TrackAnswer.Header(UnsafeRawBufferPointer(rebasing: bytes[used...]))
                    guard header.index == answered else { throw TrackMessageError("an answer about another file") }
                    let start = used + TrackAnswer.headerBytes
                    guard bytes.count - start >= header.length else { return }
                    let body = UnsafeRawBufferPointer(rebasing: bytes[start..<start + header.length])
                    switch try TrackAnswer(header, body) {
                    case .found(let facts): outcomes[asked[answered]] = .found(facts)
                    case .refused(let error): outcomes[asked[answered]] = .refused(error)
                    }
                    answered += 1
                    used = start + header.length
                }
            } catch { failure = error }
        }
        if let failure { throw failure }
        buffer.removeFirst(used)
    }

    private func start() throws(SystemError) -> Running {
        guard let program else { throw SystemError("find \(FactsChild.name)", code: ENOENT) }
        var ends: [Int32] = [-1, -1]
        guard linux_socket_pair(&ends) == 0 else { throw SystemError("make a socket") }
        let socket = OwnedDescriptor(ends[0])
        defer { close(ends[1]) }
        let process = try ChildProcess.start(
            program, [String(getpid())] + LegacyText.argument, descriptors: [ends[1]])
        return Running(process: process, socket: socket)
    }
}
