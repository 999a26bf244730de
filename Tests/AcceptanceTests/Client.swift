import CLinux
import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport
import Testing

/// A blocking connection that a test owns. A wait of more than 20 s is a failure, after which everything answers null: nothing
/// here waits for ever.
final class Client {
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var number = 0
    private(set) var isBroken = false
    private var judge = WireJudge()
    private var hasProblems = false
    /// Notifications that arrived during a wait for another message.
    private(set) var notifications: [JSONValue] = []

    /// Object that lives as long as the connection.
    private let daemon: AnyObject?

    init(_ path: String, _ daemon: AnyObject? = nil) {
        self.daemon = daemon
        var failure: SystemError?
        do throws(SystemError) { descriptor = try UnixSocket.connect(path) } catch {
            descriptor = -1
            failure = error
        }
        if let failure { fail("\(failure)") }
        let flags = fcntl(descriptor, F_GETFL)
        _ = fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK)
    }

    deinit { close(descriptor) }

    /// Sends a request and returns its number. `files` are opened for reading and handed over with it.
    @discardableResult func send(_ method: String, _ parameters: JSONValue = [:], files: [String] = []) -> Int {
        let (id, line) = request(method, parameters)
        sendLine(line, files)
        return id
    }

    /// A request with a number of its own, as text.
    func request(_ method: String, _ parameters: JSONValue = [:]) -> (number: Int, text: String) {
        number += 1
        let line: JSONValue = [
            "jsonrpc": "2.0", "id": .integer(Int64(number)), "method": .string(method), "params": parameters,
        ]
        return (number, JSONWriter.text(line))
    }

    /// Sends a request whose parameters are text, taken as it is, and returns its number.
    func sendText(_ method: String, _ parameters: String) -> Int {
        number += 1
        sendLine("{\"jsonrpc\":\"2.0\",\"id\":\(number),\"method\":\"\(method)\",\"params\":\(parameters)}")
        return number
    }

    /// Sends a line as it is.
    func sendLine(_ line: String, _ files: [String] = []) {
        judge.sends(line)
        let bytes = Array((line + "\n").utf8)
        let descriptors = files.map { open($0, O_RDONLY) }
        defer { for descriptor in descriptors { close(descriptor) } }
        let sent = linux_send(descriptor, bytes, bytes.count, descriptors, Int32(descriptors.count))
        if sent != bytes.count { fail("a line could not be sent") }
    }

    /// Sends a text without an end of line.
    func sendPart(_ text: String) {
        let bytes = Array(text.utf8)
        if linux_send(descriptor, bytes, bytes.count, nil, 0) != bytes.count { fail("a text could not be sent") }
    }

    /// Sends a request and returns its result; nil after an error.
    @discardableResult func call(_ method: String, _ parameters: JSONValue = [:], files: [String] = []) -> JSONValue? {
        answer(send(method, parameters, files: files))["result"]
    }

    /// Sends a request and returns its error; nil after a success.
    func error(_ method: String, _ parameters: JSONValue = [:]) -> JSONValue? {
        answer(send(method, parameters))["error"]
    }

    /// Code and reason (or nothing) of the error that a request gets: `200 late`; empty after a success.
    func refusal(_ method: String, _ parameters: JSONValue = [:]) -> String {
        guard let error = error(method, parameters) else { return "" }
        let reason = error["data"]?["reason"]?.stringValue.map { " " + $0 } ?? ""
        if error["message"]?.stringValue?.isEmpty != false { fail("an error without words") }
        return "\(error["code"]?.integerValue ?? 0)\(reason)"
    }

    /// The whole answer to a request.
    func answer(_ wanted: Int) -> JSONValue {
        while !isBroken {
            let message = line()
            if message["id"]?.integerValue == Int64(wanted) { return message }
            if let parameters = message["params"] { notifications.append(parameters) }
        }
        return .null
    }

    /// The next request of the daemon.
    func nextRequest() -> JSONValue {
        while !isBroken {
            let message = line()
            if message["method"] != nil, message["id"] != nil { return message }
        }
        return .null
    }

    /// Answers a request of the daemon.
    func respond(to request: JSONValue, _ result: JSONValue) {
        sendLine(JSONWriter.text(["jsonrpc": "2.0", "id": request["id"] ?? .null, "result": result]))
    }

    /// The number of the request that is answered next.
    func nextAnswer() -> Int {
        while !isBroken {
            let message = line()
            if let number = message["id"]?.integerValue { return Int(number) }
            if let parameters = message["params"] { notifications.append(parameters) }
        }
        return -1
    }

    /// The next message that is no notification: the answer to a batch.
    func batchAnswer() -> [JSONValue] {
        while !isBroken {
            let message = line()
            if let answers = message.arrayValue { return answers }
            if let parameters = message["params"] { notifications.append(parameters) }
        }
        return []
    }

    /// The next notification with one of these causes; others before it are dropped.
    func event(_ causes: String...) -> JSONValue {
        while !isBroken {
            let state: JSONValue
            if notifications.isEmpty {
                guard let parameters = line()["params"] else { continue }
                state = parameters
            } else {
                state = notifications.removeFirst()
            }
            if causes.isEmpty || causes.contains(state["cause"]?.stringValue ?? "") { return state }
        }
        return .null
    }

    /// Notifications that arrived during waits for answers.
    func takeNotifications() -> [JSONValue] {
        defer { notifications = [] }
        return notifications
    }

    /// Key events that have come by now, each as cause and reason: `track next`.
    func events() -> [String] {
        call("nowPlaying.get")
        defer { notifications = [] }
        return notifications.map(\.words)
    }

    /// Key events up to one with these words.
    func events(until last: String) -> [String] {
        var all: [String] = []
        while all.last != last, !isBroken { all.append(event().words) }
        return all
    }

    private func fail(_ what: String) {
        if !isBroken { Issue.record(Comment(rawValue: what)) }
        isBroken = true
    }

    /// Reports the first message that is not by the schemas of `rpc.discover`.
    private func check(_ message: JSONValue) {
        guard !hasProblems, let problem = judge.problems(of: message).first else { return }
        hasProblems = true
        Issue.record("not by the schemas of rpc.discover: \(problem) in \(JSONWriter.text(message).prefix(4000))")
    }

    private func line() -> JSONValue {
        while !isBroken {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                defer { buffer.removeSubrange(...end) }
                if let value = buffer[..<end].withUnsafeBytes({ try? JSONReader.read($0) }) {
                    check(value)
                    return value
                }
                fail("not JSON: \(String(decoding: buffer[..<end], as: UTF8.self))")
                break
            }
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, 20_000) > 0 else {
                fail("nothing came for 20 seconds")
                break
            }
            var bytes = [UInt8](repeating: 0, count: 65536)
            let count = read(descriptor, &bytes, bytes.count)
            guard count > 0 else {
                fail("the daemon closed the connection")
                break
            }
            buffer += bytes[..<count]
        }
        return .null
    }
}
