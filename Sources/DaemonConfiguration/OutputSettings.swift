import AudioCore
import ControlProtocol
import PlaybackEngine

/// Settings about the choice of outputs, and of single outputs.
extension Setting {
    static let outputSettings: [Setting] = [
        Setting(
            section: "access", name: "output-role", takes: "control or admin", defaultText: "control",
            sample: "admin",
            help:
                "Least role for the choice of the output and for its delay: control, or admin for the daemon's own user "
                + "and root alone.",
            isReloadable: true
        ) { configuration, text in
            guard let role = Role(rawValue: text), role >= .control else { return false }
            configuration.outputRole = role
            return true
        },
        Setting(
            section: "output", name: "snapcast-buffer", takes: "milliseconds from 50 to 10000", defaultText: nil,
            sample: "1000",
            help:
                "Buffer of the Snapcast server: the setting buffer of its configuration. Its rooms play so much later, and the "
                + "clock agrees. Without it, the daemon asks the server for its buffer and, after each start of playback, "
                + "for the times of its chunks (ports 1704 and 1705).",
            isReloadable: false
        ) { configuration, text in
            guard let value = Int(text), (50...10000).contains(value) else { return false }
            configuration.snapcast.buffer = Double(value) / 1000
            return true
        },
        Setting(
            section: "output", name: "snapcast-chunk", takes: "milliseconds from 1 to 500", defaultText: "20",
            sample: "20",
            help: "Length of the Snapcast server's chunks: the setting chunk_ms of its configuration.",
            isReloadable: false
        ) { configuration, text in
            guard let value = Int(text), (1...500).contains(value) else { return false }
            configuration.snapcast.chunk = Double(value) / 1000
            return true
        },
        Setting(
            section: "outputs", name: "delays", takes: "names of outputs, each with seconds from 0 to 10, one per line",
            defaultText: nil, sample: "alsa_output.pci-0000_00_03.0.hdmi-stereo 0.25",
            help:
                "Seconds of latency that the sound server does not report, as of a television, a Bluetooth speaker or an "
                + "amplifier. The position takes them into account. The method output.delay.set overrides it. "
                + "Further outputs follow on indented lines.",
            isReloadable: true, reset: { $0.outputDelays = [:] }
        ) { configuration, text in
            let words = text.split(separator: " ")
            guard words.count == 2, let delay = Double(words[1]), OutputDelays.range.contains(delay) else {
                return false
            }
            configuration.outputDelays[String(words[0])] = delay
            return configuration.outputDelays.count <= OutputDelays.limit
        },
    ]
}
