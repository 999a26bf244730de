import ControlProtocol
import LinuxSystem
import NowPlaying
import WebProtocol

/// A connection to the daemon or to the library with the rights of one caller. It gives up all other rights before its
/// first request.
@PlayerLoop final class Upstream {
    /// Called with each line after the greeting.
    var onLine: (@PlayerLoop ([UInt8], OwnedDescriptor?) -> Void)?
    /// Called once when the connection has ended, with an error if the other end has refused the greeting.
    var onEnd: (@PlayerLoop (RPCError?) -> Void)?
    /// Called when the other end has taken all waiting bytes.
    var onDrain: (@PlayerLoop () -> Void)?
    /// The answer to the greeting; nil: it has not arrived.
    private(set) var greeting: JSONObject?

    private let channel: LineChannel
    private var waiting: [(line: [UInt8], file: OwnedDescriptor?)] = []

    /// Connects, and gives up all rights beyond `hello`, the parameters of the greeting. Throws if no server answers.
    init(_ ready: ReadySet, _ paths: [String], hello: JSONObject) throws(SystemError) {
        channel = try LineChannel(ready, paths)
        channel.onLine = { [unowned self] in take($0, $1) }
        channel.onDrain = { [unowned self] in onDrain?() }
        channel.onLoss = { [unowned self] in end() }
        channel.send(Self.request(id: "0", "hello", hello))
    }

    /// A line with a request. `id` is JSON; nil: a notification, which gets no answer.
    static func request(id: String?, _ method: String, _ parameters: JSONObject = JSONObject()) -> [UInt8] {
        var writer = JSONWriter()
        writer.request(id: id.map { Array($0.utf8) }, method: method, parameters: parameters)
        return writer.bytes
    }

    /// True for a line that is not an answer.
    static func isNotification(_ line: [UInt8]) -> Bool { line.starts(with: notificationStart) }

    private static let notificationStart = Array(#"{"jsonrpc":"2.0","method""#.utf8)

    /// Number of bytes that the other end has not taken.
    var unsent: Int { channel.unsent + waiting.reduce(0) { $0 + $1.line.count } }

    /// Sends a line and adds its end.
    func send(_ line: [UInt8], with file: OwnedDescriptor? = nil) {
        guard greeting != nil else { return waiting.append((line, file)) }
        channel.send(line, with: file)
    }

    /// Reads nothing while paused.
    func setPaused(_ isPaused: Bool) { channel.setPaused(isPaused) }

    /// Ends the connection. No handler is called from then on.
    func close() {
        onLine = nil
        onEnd = nil
        onDrain = nil
        waiting = []
        channel.close()
    }

    private func take(_ line: [UInt8], _ file: OwnedDescriptor?) {
        if greeting != nil { return onLine?(line, file) ?? () }
        guard !Self.isNotification(line) else { return }
        // Without the greeting, the connection would have the bridge's own rights.
        let answer = try? JSONReader.read(line)
        guard let result = answer?["result"]?.objectValue else {
            return end(answer?["error"].map(Self.refusal))
        }
        greeting = result
        let lines = waiting
        waiting = []
        for (line, file) in lines { channel.send(line, with: file) }
        onGreeting?()
    }

    /// Called once after the greeting.
    var onGreeting: (@PlayerLoop () -> Void)?

    private static func refusal(_ error: JSONValue) -> RPCError {
        let reason = error["data"]?["reason"]?.stringValue.flatMap(RPCError.Reason.init)
        let words = error["message"]?.stringValue ?? ""
        return .commandFailed(reason ?? .refused, "nowplaying-web is refused: \(words)")
    }

    private func end(_ refusal: RPCError? = nil) {
        let ended = onEnd
        close()
        ended?(refusal)
    }
}
