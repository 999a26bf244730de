import Glibc
import TestSupport

/// A house with a real broker, whose topics are followed into the file `topics`.
final class BrokerHouse: Sendable {
    let house = House()
    let port = String(20000 + getpid() % 20000)

    /// The broker, with lines of its configuration; `listener`: lines of its listener.
    func startBroker(_ settings: String = "", listener: String = "") async -> TestProcess {
        house.write(
            "broker.conf", "listener \(port) 127.0.0.1\n\(listener)\nallow_anonymous true\n\(settings)\nuser root\n")
        return await house.start(
            command: ["mosquitto", "-v", "-c", house.folder.path("broker.conf")], log: "broker.log")
    }

    /// The bridge of the box “kitchen”. `before`: words in front of its command line.
    func startBridge(_ settings: String = "", before: [String] = []) async -> TestProcess {
        house.write(
            "config/nowplayingd.conf",
            "[mqtt]\nhost = 127.0.0.1\nport = \(port)\nname = kitchen\ncommands = yes\n\(settings)\n")
        let words = before + [House.program("nowplaying-mqtt"), "--socket", house.socket]
        return await house.start(command: words, log: "mqtt.log")
    }

    /// Follows a topic into the file `topics`.
    func follow(_ topic: String, _ options: [String] = []) async -> TestProcess {
        await house.start(
            command: ["mosquitto_sub", "-h", "127.0.0.1", "-p", port, "-v", "-t", topic] + options, log: "topics")
    }

    /// Sends a command.
    func send(_ text: String, to topic: String = "command", _ options: String...) async {
        _ = await house.run(
            ["mosquitto_pub", "-h", "127.0.0.1", "-p", port, "-t", "nowplaying/kitchen/" + topic, "-m", text] + options)
    }

    /// Waits until a line of `topics` contains this text.
    func receives(_ text: String) -> Bool { house.comes(text, in: "topics") }

    /// Waits until the bridge has connected so many times.
    func connects(times: Int = 1) -> Bool {
        becomes { house.text("mqtt.log").split(separator: "\n").filter { $0.contains("connected to") }.count == times }
    }
}
