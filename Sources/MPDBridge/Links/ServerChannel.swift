import CLinux
import ControlProtocol
import Glibc
import LinuxSystem
import NowPlayingClient

/// Answer of the daemon or the library to a call.
struct ServerReply: Sendable {
    /// The result.
    let value: JSONValue
    /// Length of the answer's line in bytes.
    let bytes: Int
    /// The descriptor that came with the answer.
    let file: OwnedDescriptor?
}

/// One connection to the daemon or the library, on the loop; nothing here blocks.
@PlayerLoop final class ServerChannel {
    /// End of a call.
    enum End: Sendable {
        case answered(ServerReply)
        case refused(RemoteFailure)
        /// The connection was lost before the answer.
        case lost
    }

    /// Takes the end of a call; called once.
    typealias Caller = @PlayerLoop (End) -> Void

    /// Called with the name and the parameters of each notification.
    var onNotification: (@PlayerLoop (String, JSONValue) -> Void)?
    /// Called once when the server has closed the connection, or sends invalid lines.
    var onLoss: (@PlayerLoop () -> Void)?

    private let descriptor: OwnedDescriptor
    private var source: EventSource?
    private var input: [UInt8] = []
    /// Number of leading bytes of `input` that were taken.
    private var taken = 0
    /// Number of leading bytes of `input` without the end of a line that was not taken.
    private var searched = 0
    /// True while lines wait for another turn of the loop. The channel receives nothing meanwhile.
    private var hasLines = false
    private var files: [OwnedDescriptor] = []
    private var output: [UInt8] = []
    private var callers: [Int64: Caller] = [:]
    private var lastNumber: Int64 = 0

    /// Maximum bytes of a line. A page has 192 KiB, unless one row is longer.
    private static let maximumLine = 64 << 20

    /// Connects to the socket at `path`. Throws the system's error.
    init(_ loop: EventLoop, _ path: String) throws(SystemError) {
        descriptor = OwnedDescriptor(try UnixSocket.connect(path))
        source = loop.watch(descriptor.number, UInt32(EPOLLIN.rawValue)) { [unowned self] in happened($0) }
        if source == nil { throw SystemError("watch the connection to \(path)", code: ENOMEM) }
    }

    isolated deinit { source?.release() }

    /// Lets the loop serve everything else first.
    func yieldToOthers() { source?.yieldToOthers() }

    /// Calls a method.
    func call(_ method: String, _ parameters: JSONObject, _ caller: @escaping Caller) {
        guard source != nil else { return EventLoop.current.later { caller(.lost) } }
        lastNumber += 1
        callers[lastNumber] = caller
        var writer = JSONWriter()
        writer.request(id: Array("\(lastNumber)".utf8), method: method, parameters: parameters)
        writer.newline()
        output += writer.bytes
        flush()
    }

    /// Ends the connection; waiting calls are lost.
    func close() {
        guard source != nil else { return }
        source?.release()
        source = nil
        onLoss = nil
        onNotification = nil
        output = []
        linux_shut_down(descriptor.number)
        let waiting = callers.sorted { $0.key < $1.key }.map(\.value)
        callers = [:]
        for caller in waiting { caller(.lost) }
    }

    // MARK: Bytes

    private func flush() {
        var sent = 0
        while sent < output.count {
            let count = output.withUnsafeBytes {
                UnixSocket.send(descriptor.number, UnsafeRawBufferPointer(rebasing: $0[sent...]))
            }
            if count == -Int(EINTR) { continue }
            if count == -Int(EAGAIN) { break }
            // A read also finds the end of the connection.
            guard count > 0 else { return output = [] }
            sent += count
        }
        output.removeFirst(sent)
        watch()
    }

    private func watch() {
        let readable = hasLines ? 0 : UInt32(EPOLLIN.rawValue)
        source?.setEvents(readable | (output.isEmpty ? 0 : UInt32(EPOLLOUT.rawValue)))
    }

    private func happened(_ events: UInt32) {
        if events & UInt32(EPOLLOUT.rawValue) != 0 { flush() }
        guard events & ~UInt32(EPOLLOUT.rawValue) != 0, !hasLines else { return }
        takeLines(isOpen: receive())
    }

    /// Takes lines for one turn, and the others in later turns of the loop.
    private func takeLines(isOpen: Bool) {
        hasLines = false
        let time = TurnTime()
        // A handler may close the connection.
        while source != nil, let line = nextLine() {
            take(line)
            guard time.isOver, source != nil else { continue }
            hasLines = true
            EventLoop.current.later { [weak self] in self?.takeLines(isOpen: isOpen) }
            break
        }
        guard source != nil, !hasLines, !isOpen || input.count > Self.maximumLine else { return watch() }
        lose()
    }

    private func lose() {
        let lost = onLoss
        close()
        lost?()
    }

    /// False: the server sends nothing more.
    private func receive() -> Bool {
        input.removeFirst(taken)
        searched -= taken
        taken = 0
        return withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { buffer in
            let received = UnixSocket.receive(descriptor.number, into: buffer)
            files += received.descriptors.map { OwnedDescriptor($0) }
            if received.count > 0 { input += UnsafeRawBufferPointer(rebasing: buffer[..<received.count]) }
            return received.count > 0 || received.count == -Int(EAGAIN) || received.count == -Int(EINTR)
        }
    }

    private func nextLine() -> [UInt8]? {
        let end = input.withUnsafeBytes { bytes -> Int? in
            guard searched < bytes.count else { return nil }
            let found = memchr(bytes.baseAddress! + searched, Int32(UInt8(ascii: "\n")), bytes.count - searched)
            return found.map { UnsafeRawPointer($0) - bytes.baseAddress! }
        }
        guard let end else {
            searched = input.count
            return nil
        }
        defer {
            taken = end + 1
            searched = taken
            if taken == input.count { (input, taken, searched) = ([], 0, 0) }
        }
        return Array(input[taken..<end])
    }

    private func take(_ line: [UInt8]) {
        guard !line.isEmpty else { return }
        guard let message = try? JSONReader.read(line) else { return lose() }
        if let method = message["method"]?.stringValue {
            onNotification?(method, message["params"] ?? [:])
        } else if let number = message["id"]?.integerValue, let caller = callers.removeValue(forKey: number) {
            if let error = message["error"] { return caller(.refused(RemoteFailure(error))) }
            let result = message["result"] ?? .null
            let file = result["descriptor"] != nil && !files.isEmpty ? files.removeFirst() : nil
            caller(.answered(ServerReply(value: result, bytes: line.count, file: file)))
        }
    }
}
