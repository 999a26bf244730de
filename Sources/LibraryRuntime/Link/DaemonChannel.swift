import CLinux
import ControlProtocol
import Glibc
import LinuxSystem

/// One connection to the daemon, on the loop; nothing here blocks.
@PlayerLoop final class DaemonChannel {
    /// End of a call.
    enum Reply: Sendable {
        case result(JSONValue)
        /// The daemon's refusal with all of its details.
        case refused(RPCError)
        /// The connection was lost before the answer.
        case lost
    }

    /// Takes the end of a call; called once.
    typealias Caller = @PlayerLoop (Reply) -> Void

    /// Called with the name and the parameters of each notification.
    var onNotification: (@PlayerLoop (String, JSONValue) -> Void)?
    /// Called once when the daemon has closed the connection or sent an invalid line.
    var onLoss: (@PlayerLoop () -> Void)?

    private let descriptor: OwnedDescriptor
    private var source: EventSource?
    private var input: [UInt8] = []
    /// Bytes of `input` that were searched for a line end.
    private var searched = 0
    private var output: [(bytes: ArraySlice<UInt8>, file: OwnedDescriptor?)] = []
    private var callers: [Int64: Caller] = [:]
    private var lastNumber: Int64 = 0

    /// Longest line that is read: a page of the queue has 192 KiB, a state with the longest texts less.
    private static let maximumLine = 16 << 20

    /// Connects to the socket at `path`. Throws the system's error.
    init(_ loop: EventLoop, _ path: String) throws(SystemError) {
        descriptor = OwnedDescriptor(try UnixSocket.connect(path))
        source = loop.watch(descriptor.number, UInt32(EPOLLIN.rawValue)) { [unowned self] in happened($0) }
        if source == nil { throw SystemError("watch the connection to \(path)", code: ENOMEM) }
    }

    /// Calls a method. `file` is sent with its line as descriptor 0.
    func call(
        _ method: String, _ parameters: JSONObject = JSONObject(), file: OwnedDescriptor? = nil,
        _ caller: @escaping Caller
    ) {
        guard source != nil else { return EventLoop.current.later { caller(.lost) } }
        lastNumber += 1
        callers[lastNumber] = caller
        var writer = JSONWriter()
        writer.request(id: Array("\(lastNumber)".utf8), method: method, parameters: parameters)
        writer.newline()
        send(writer.bytes, file)
    }

    /// Calls several methods as one batch, which the daemon carries out without interruption. `caller` gets the ends of
    /// the calls in their order. `file` is sent with the line.
    func batch(
        _ calls: [(method: String, parameters: JSONObject)], file: OwnedDescriptor?,
        _ caller: @escaping @PlayerLoop ([Reply]) -> Void
    ) {
        guard source != nil else { return EventLoop.current.later { caller(calls.map { _ in .lost }) } }
        let collected = Collected(calls.count, caller)
        var writer = JSONWriter()
        writer.beginArray()
        for (index, call) in calls.enumerated() {
            lastNumber += 1
            callers[lastNumber] = { collected.set(index, $0) }
            var one = JSONWriter()
            one.request(id: Array("\(lastNumber)".utf8), method: call.method, parameters: call.parameters)
            writer.raw(one.bytes)
        }
        writer.endArray()
        writer.newline()
        send(writer.bytes, file)
    }

    /// Ends the connection; calls without an answer are lost.
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

    isolated deinit { source?.release() }

    // MARK: Bytes

    private func send(_ bytes: [UInt8], _ file: OwnedDescriptor?) {
        output.append((bytes[...], file))
        flush()
    }

    private func flush() {
        while let (bytes, file) = output.first {
            let count = bytes.withUnsafeBytes { UnixSocket.send(descriptor.number, $0, with: file?.number) }
            if count == -Int(EINTR) { continue }
            if count == -Int(EAGAIN) { break }
            // The read reports the end of the connection.
            guard count > 0 else { return output = [] }
            output[0] = (bytes.dropFirst(count), nil)
            if output[0].bytes.isEmpty { output.removeFirst() }
        }
        source?.setEvents(UInt32(EPOLLIN.rawValue) | (output.isEmpty ? 0 : UInt32(EPOLLOUT.rawValue)))
    }

    private func happened(_ events: UInt32) {
        if events & UInt32(EPOLLOUT.rawValue) != 0 { flush() }
        guard events & ~UInt32(EPOLLOUT.rawValue) != 0 else { return }
        let isOpen = receive()
        // A handler may close the connection.
        while source != nil, let line = nextLine() { take(line) }
        guard source != nil, !isOpen || input.count > Self.maximumLine else { return }
        let lost = onLoss
        close()
        lost?()
    }

    /// Receives bytes. False: the daemon sends no more.
    private func receive() -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { buffer in
            let received = UnixSocket.receive(descriptor.number, into: buffer)
            for file in received.descriptors { Glibc.close(file) }
            if received.count > 0 { input.append(contentsOf: buffer[..<received.count]) }
            return received.count > 0 || received.count == -Int(EAGAIN) || received.count == -Int(EINTR)
        }
    }

    private func nextLine() -> [UInt8]? {
        guard let end = input[searched...].firstIndex(of: UInt8(ascii: "\n")) else {
            searched = input.count
            return nil
        }
        let line = Array(input[..<end])
        input.removeSubrange(...end)
        searched = 0
        return line
    }

    private func take(_ line: [UInt8]) {
        guard !line.isEmpty else { return }
        guard let message = try? JSONReader.read(line) else {
            input = []
            let lost = onLoss
            close()
            lost?()
            return
        }
        for one in message.arrayValue ?? [message] { take(one) }
    }

    private func take(_ message: JSONValue) {
        if let method = message["method"]?.stringValue {
            onNotification?(method, message["params"] ?? [:])
        } else if let number = message["id"]?.integerValue, let caller = callers.removeValue(forKey: number) {
            caller(message["error"].map { .refused(RPCError(remote: $0)) } ?? .result(message["result"] ?? .null))
        }
    }

    /// Collects the ends of the calls of a batch.
    @PlayerLoop private final class Collected {
        private var replies: [Reply?]
        private let caller: @PlayerLoop ([Reply]) -> Void

        init(_ count: Int, _ caller: @escaping @PlayerLoop ([Reply]) -> Void) {
            replies = Array(repeating: nil, count: count)
            self.caller = caller
        }

        func set(_ index: Int, _ reply: Reply) {
            replies[index] = reply
            let all = replies.compactMap { $0 }
            if all.count == replies.count { caller(all) }
        }
    }
}

extension RPCError {
    /// An error from another server, with all of its details.
    init(remote error: JSONValue) {
        let data = error["data"]?.objectValue ?? JSONObject()
        self.init(
            code: Int(clamping: error["code"]?.integerValue ?? 200),
            status: data["status"]?.stringValue ?? "commandFailed",
            message: error["message"]?.stringValue ?? "the daemon refuses without a reason",
            details: data.members.filter { $0.name != "status" })
    }
}
