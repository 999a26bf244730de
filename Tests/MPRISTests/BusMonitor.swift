import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport

/// Everything that goes over the bus: `busctl monitor`.
final class BusMonitor {
    private let installation: Installation
    private let process: TestProcess
    private var input: [UInt8] = []

    /// Begins to listen: it records all later messages.
    init(_ installation: Installation) async {
        self.installation = installation
        let words = ["busctl", "--address=\(installation.address)", "--json=short", "monitor"]
        let environment = installation.environment
        process = await LoopThread.run { TestProcess(words, environment: environment, output: true) }
        var isListening = false
        while !isListening {
            mark("begin")
            isListening = hasInput()
        }
        _ = messages()
    }

    deinit {
        process.end()
        close(process.output)
    }

    /// The messages of the player since it was asked last, as JSON: signals that it sent.
    func signals() -> [JSONValue] {
        messages().filter { $0["type"] == "signal" && $0["path"] == "/org/mpris/MediaPlayer2" }
    }

    /// All messages until now, but those to and from the bus itself.
    func messages() -> [JSONValue] {
        mark("end")
        var result: [JSONValue] = []
        while let line = line() {
            // The first line is none.
            guard let message = try? JSONReader.read(line) else { continue }
            if message["interface"] == "test.Mark" {
                if message["member"] == "end" { break }
            } else if message["sender"] != Self.bus, message["destination"] != Self.bus {
                result.append(message)
            }
        }
        return result
    }

    private static let bus: JSONValue = "org.freedesktop.DBus"

    private func mark(_ name: String) {
        // The bus keeps the order of messages, so the test's own signal comes after all earlier ones.
        _ = installation.run(
            "busctl", "--address=\(installation.address)", "emit", "/test", "test.Mark", name)
    }

    private func hasInput() -> Bool {
        var wait = pollfd(fd: process.output, events: Int16(POLLIN), revents: 0)
        return poll(&wait, 1, 50) > 0
    }

    private func line() -> String? {
        while true {
            if let end = input.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: input[..<end], as: UTF8.self)
                input.removeSubrange(...end)
                return line
            }
            var wait = pollfd(fd: process.output, events: Int16(POLLIN), revents: 0)
            guard poll(&wait, 1, 10_000) > 0 else { return nil }
            var buffer = [UInt8](repeating: 0, count: 65536)
            let count = read(process.output, &buffer, buffer.count)
            guard count > 0 else { return nil }
            input += buffer[..<count]
        }
    }
}

extension JSONValue {
    /// The positions of `Seeked`, in microseconds; nil: it is another signal.
    var seeked: Int64? { self["member"] == "Seeked" ? self["payload"]?["data"]?.arrayValue?.first?.integerValue : nil }

    /// The properties in `PropertiesChanged`.
    var changed: JSONValue? {
        self["member"] == "PropertiesChanged" ? self["payload"]?["data"]?.arrayValue?.dropFirst().first : nil
    }
}
