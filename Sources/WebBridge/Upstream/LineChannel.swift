import CLinux
import ControlProtocol
import Glibc
import LinuxSystem

/// A connection to the daemon, the library or a Snapcast server, line by line. Nothing here blocks.
@PlayerLoop final class LineChannel {
    /// Called with each line, without its end, and the descriptor that came with it.
    var onLine: (@PlayerLoop ([UInt8], OwnedDescriptor?) -> Void)?
    /// Called when all waiting bytes are sent.
    var onDrain: (@PlayerLoop () -> Void)?
    /// Called once when the other end has closed the connection.
    var onLoss: (@PlayerLoop () -> Void)?

    private let descriptor: OwnedDescriptor
    private var source: ReadySet.Member?
    private var input: [UInt8] = []
    /// Number of bytes of `input` that were passed on, and of further bytes without a line end.
    private var taken = 0
    private var searched = 0
    private var files: [OwnedDescriptor] = []
    private var output: [(bytes: [UInt8], file: OwnedDescriptor?)] = []
    private var sent = 0
    private var isPaused = false

    private let maximumLine: Int

    /// Maximum bytes of a line. A page of the queue has 192 KiB, unless one row is longer.
    private static let longestLine = 64 << 20

    /// Connects to the first of `paths` that accepts, and reads together with the set. Throws the error of the last path.
    convenience init(_ ready: ReadySet, _ paths: [String]) throws(SystemError) {
        var failure = SystemError("connect", code: ENOENT)
        var found: Int32?
        for path in paths where found == nil {
            do throws(SystemError) { found = try UnixSocket.connect(path) } catch { failure = error }
        }
        guard let found else { throw failure }
        try self.init(ready, OwnedDescriptor(found), maximumLine: Self.longestLine)
    }

    /// Takes ownership of a connected non-blocking socket. A line of more than `maximumLine` bytes ends the connection.
    init(_ ready: ReadySet, _ connected: OwnedDescriptor, maximumLine: Int) throws(SystemError) {
        self.maximumLine = maximumLine
        descriptor = connected
        let found = connected.number
        source = ready.watch(found, UInt32(EPOLLIN.rawValue)) { [unowned self] in happened($0) }
        guard source != nil else { throw SystemError("watch a connection", code: ENOMEM) }
    }

    isolated deinit { source?.release() }

    /// True until the end of the connection.
    var isOpen: Bool { source != nil }

    /// Number of bytes that the other end has not taken.
    var unsent: Int { output.reduce(-sent) { $0 + $1.bytes.count } }

    /// Sends a line and adds its end; `file` goes with the first byte.
    func send(_ line: [UInt8], with file: OwnedDescriptor? = nil) {
        guard source != nil else { return }
        output.append((line + [UInt8(ascii: "\n")], file))
        flush()
    }

    /// Reads nothing while paused, so that the other end keeps the newest state for later.
    func setPaused(_ isPaused: Bool) {
        guard isPaused != self.isPaused else { return }
        self.isPaused = isPaused
        watch()
    }

    /// Ends the connection. No handler is called from then on.
    func close() {
        guard source != nil else { return }
        source?.release()
        source = nil
        onLine = nil
        onDrain = nil
        onLoss = nil
        output = []
        files = []
        linux_shut_down(descriptor.number)
    }

    private func watch() {
        source?.setEvents(
            (isPaused ? 0 : UInt32(EPOLLIN.rawValue)) | (output.isEmpty ? 0 : UInt32(EPOLLOUT.rawValue)))
    }

    private func flush() {
        while let next = output.first {
            // The file goes with the first byte.
            let file = sent == 0 ? next.file?.number : nil
            let count = next.bytes.withUnsafeBytes { bytes in
                UnixSocket.send(descriptor.number, UnsafeRawBufferPointer(rebasing: bytes[sent...]), with: file)
            }
            if count == -Int(EINTR) { continue }
            if count == -Int(EAGAIN) { break }
            // A read also finds the end of the connection.
            guard count > 0 else { return output = [] }
            sent += count
            guard sent == next.bytes.count else { continue }
            output.removeFirst()
            sent = 0
        }
        watch()
    }

    private func happened(_ events: UInt32) {
        if events & UInt32(EPOLLOUT.rawValue) != 0 {
            flush()
            if output.isEmpty { onDrain?() }
        }
        guard events & ~UInt32(EPOLLOUT.rawValue) != 0 else { return }
        let isOpen = receive()
        // A handler may close the connection.
        while source != nil, let line = nextLine() {
            onLine?(line, file(of: line))
        }
        guard source != nil, !isOpen || input.count > maximumLine else { return }
        let lost = onLoss
        close()
        lost?()
    }

    /// The descriptor for a line whose result announces one: an earlier line may arrive in the same read.
    private func file(of line: [UInt8]) -> OwnedDescriptor? {
        guard !files.isEmpty, (try? JSONReader.read(line))?["result"]?["descriptor"] != nil else { return nil }
        return files.removeFirst()
    }

    /// False: the other end sends nothing more.
    private func receive() -> Bool {
        if taken > 0 {
            input.removeFirst(taken)
            searched -= taken
            taken = 0
            if input.isEmpty { input = [] }
        }
        return withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { buffer in
            let received = UnixSocket.receive(descriptor.number, into: buffer)
            if !received.descriptors.isEmpty { files += received.descriptors.map { OwnedDescriptor($0) } }
            if received.count > 0 { input += UnsafeRawBufferPointer(rebasing: buffer[..<received.count]) }
            return received.count > 0 || received.count == -Int(EAGAIN) || received.count == -Int(EINTR)
        }
    }

    private func nextLine() -> [UInt8]? {
        let end = input.withUnsafeBytes { bytes -> Int? in
            guard searched < bytes.count,
                let found = memchr(bytes.baseAddress! + searched, 0x0A, bytes.count - searched)
            else { return nil }
            return UnsafeRawPointer(found) - bytes.baseAddress!
        }
        guard let end else {
            searched = input.count
            return nil
        }
        if taken == 0, end + 1 == input.count {
            // In the usual case, one whole line has arrived, and nothing is copied.
            var line = input
            input = []
            searched = 0
            line.removeLast()
            return line
        }
        defer {
            taken = end + 1
            searched = taken
        }
        return Array(input[taken..<end])
    }
}
