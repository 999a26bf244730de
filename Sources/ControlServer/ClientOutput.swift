import ControlProtocol
import Glibc
import LinuxSystem

/// Bytes on their way to a client, and the open files that go along with them.
@PlayerLoop final class ClientOutput {
    private enum Phase {
        /// The kernel takes bytes.
        case open
        /// The kernel takes no bytes until the client reads.
        case choked
        /// The client will never take more bytes: none is kept for it.
        case over
    }

    private let descriptor: Int32
    private var phase = Phase.open
    /// The unsent bytes, and sent ones before them.
    private var bytes: [UInt8] = []
    /// Number of sent bytes in `bytes`.
    private var sent = 0
    /// Bytes that the kernel has taken so far, but for those of lines that it took whole at once.
    private(set) var sentInAll = 0
    /// Open files, each with the index in `bytes` at which its line begins.
    private var files: [(start: Int, descriptor: OwnedDescriptor)] = []

    /// An output to this socket, which stays its owner's.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// True while the kernel takes no more bytes.
    var isChoked: Bool { phase == .choked }
    /// True if the client will never take more bytes.
    var isOver: Bool { phase == .over }
    /// True if no bytes wait.
    var isEmpty: Bool { bytes.isEmpty }
    /// True if the kernel takes bytes and none wait before them.
    var isIdle: Bool { phase == .open && bytes.isEmpty }
    /// Number of bytes that the kernel has not taken.
    var unsentCount: Int { bytes.count - sent }

    /// Appends a line, which `line` writes without its end.
    func append(_ line: (inout JSONWriter) -> Void) {
        var writer = JSONWriter(bytes)
        bytes = []
        line(&writer)
        writer.newline()
        bytes = writer.bytes
    }

    /// Appends whole lines.
    func append(_ lines: [UInt8]) { bytes += lines }

    /// Appends the lines of missed events.
    func append(_ missed: MissedEvents) { missed.write(to: &bytes) }

    /// Sends an open file along with the line that is appended next.
    func attach(_ descriptor: OwnedDescriptor) { files.append((bytes.count, descriptor)) }

    /// Sends a line of an idle output at once. The part that the kernel does not take waits.
    func send(_ line: UnsafeRawBufferPointer) {
        let count = UnixSocket.send(descriptor, line)
        guard count != line.count else { return }
        guard count >= 0 || count == -Int(EAGAIN) || count == -Int(EINTR) else { return end() }
        phase = .choked
        bytes = Array(line.dropFirst(max(0, count)))
    }

    /// Sends the waiting bytes, as many as the kernel takes, and then the events that `takeMissed` returns.
    func flush(_ takeMissed: () -> MissedEvents?) {
        guard phase != .over else { return }
        phase = .open
        while true {
            if bytes.isEmpty, let missed = takeMissed() { append(missed) }
            guard !bytes.isEmpty else { return }
            // A file goes with the first byte of its line, so the bytes before that go first.
            let file = files.first.flatMap { $0.start == sent ? $0.descriptor : nil }
            let end = files.first { $0.start > sent }?.start ?? bytes.count
            let count = bytes.withUnsafeBytes {
                UnixSocket.send(descriptor, UnsafeRawBufferPointer(rebasing: $0[sent..<end]), with: file?.number)
            }
            if count > 0, file != nil { files.removeFirst() }
            if count < 0 {
                switch Int32(-count) {
                case EINTR: continue
                case EAGAIN: phase = .choked
                default: self.end()
                }
                return
            }
            sent += count
            sentInAll += count
            if sent == end, end < bytes.count { continue }
            guard sent == bytes.count else {
                phase = .choked
                // The sent bytes are dropped rarely, as that copies the others.
                if sent > 64 << 10 { dropSent() }
                return
            }
            sent = 0
            bytes.removeAll(keepingCapacity: bytes.capacity <= 4096)
        }
    }

    private func dropSent() {
        bytes.removeFirst(sent)
        files = files.map { ($0.start - sent, $0.descriptor) }
        sent = 0
    }

    /// Drops all bytes, and takes no more.
    func end() {
        phase = .over
        bytes = []
        files = []
        sent = 0
    }
}
