import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import SnapcastControl
import TCPClient

/// A connection to the control protocol of a Snapcast server. Nothing here blocks the loop.
@PlayerLoop final class RoomLink {
    /// The reason for a missing connection; the raw value is the word on the wire.
    enum Problem: String {
        case unreachable, noAnswer, strange
    }

    /// The answer of the server to a request, or its words of refusal.
    enum Answer {
        case result(JSONValue)
        case refusal(String)
    }

    /// Called when the rooms may have changed; nothing more is read until `resume`.
    var onNews: (@PlayerLoop () -> Void)?
    /// Called once when the server or a fault ends the connection.
    var onEnd: (@PlayerLoop (Problem) -> Void)?

    private let loop: EventLoop
    private var channel: LineChannel?
    private var number: Int64 = 0
    private var waiting: [(number: Int64, due: MonotonicTime, done: @PlayerLoop (Answer) -> Void)] = []
    private var deadline: EventSource?

    /// Seconds for the connection, and for each answer.
    private static let patience = 5.0
    /// Notifications about a stream, such as its title.
    private static let ignored: Set<String> = ["Stream.OnProperties", "Stream.OnUpdate"]

    /// Connects; `onOpen` is called when requests can be sent.
    init(
        _ loop: EventLoop, _ ready: ReadySet, _ workers: Workers, _ address: ControlAddress,
        onOpen: @escaping @PlayerLoop () -> Void
    ) {
        self.loop = loop
        deadline = loop.deadline(EventLoop.now.advanced(bySeconds: Self.patience)) { [unowned self] in end(.noAnswer) }
        let seconds = Self.patience
        let work: @Sendable () -> OwnedDescriptor? = {
            let socket = try? TCPConnection.open(host: address.host, port: address.port, seconds: seconds)
            return socket.map { OwnedDescriptor($0) }
        }
        workers.submit(work) { [weak self] socket in
            // A link that was closed in the meantime has no deadline.
            guard let self, deadline != nil else { return }
            take(socket, ready)
            if channel != nil { onOpen() }
        }
    }

    private func take(_ socket: OwnedDescriptor?, _ ready: ReadySet) {
        guard let descriptor = socket else { return end(.unreachable) }
        guard let channel = try? LineChannel(ready, descriptor, maximumLine: ControlLine.maximumBytes) else {
            return end(.unreachable)
        }
        channel.onLine = { [unowned self] line, _ in take(line) }
        channel.onLoss = { [unowned self] in end(.unreachable) }
        self.channel = channel
        stopClock()
    }

    /// Sends a request; `done` is called with its answer, and not at all if the link ends first.
    func call(_ method: String, _ parameters: JSONValue? = nil, _ done: @escaping @PlayerLoop (Answer) -> Void) {
        number += 1
        waiting.append((number, EventLoop.now.advanced(bySeconds: Self.patience), done))
        channel?.send(ControlLine.request(number, method, parameters))
        watchClock()
    }

    /// Resumes reading after a notification.
    func resume() { channel?.setPaused(false) }

    /// Ends the connection. No handler is called from then on.
    func close() {
        onNews = nil
        onEnd = nil
        waiting = []
        stopClock()
        channel?.close()
    }

    private func take(_ line: [UInt8]) {
        switch ControlLine(line) {
        case .result(let number, let result): answer(number, .result(result))
        case .refusal(let number, let words): answer(number, .refusal(words))
        case .news(let name):
            guard !Self.ignored.contains(name) else { return }
            channel?.setPaused(true)
            onNews?()
        case nil: end(.strange)
        }
    }

    private func answer(_ number: Int64, _ answer: Answer) {
        guard let index = waiting.firstIndex(where: { $0.number == number }) else { return }
        let done = waiting.remove(at: index).done
        watchClock()
        done(answer)
    }

    private func watchClock() {
        guard let due = waiting.first?.due else { return stopClock() }
        stopClock()
        deadline = loop.deadline(due) { [unowned self] in end(.noAnswer) }
    }

    private func stopClock() {
        deadline?.release()
        deadline = nil
    }

    private func end(_ problem: Problem) {
        let ended = onEnd
        close()
        ended?(problem)
    }
}
