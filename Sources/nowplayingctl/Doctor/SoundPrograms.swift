import Glibc

/// The sound servers that are installed on this machine.
struct SoundPrograms: Equatable {
    /// PulseAudio.
    var pulse: Bool
    /// PipeWire's server of PulseAudio's protocol.
    var pipeWire: Bool
    /// A session manager of PipeWire. Without one, PipeWire has no card.
    var manager: Bool

    /// The programs that lie in `folder` and can be run.
    init(in folder: String) {
        func isThere(_ name: String) -> Bool { access(folder + "/" + name, X_OK) == 0 }
        pulse = isThere("pulseaudio")
        pipeWire = isThere("pipewire-pulse")
        manager = isThere("wireplumber")
    }

    /// The finding for a daemon whose sound server does not answer. `isSystems`: it is the system's daemon, which has
    /// a sound server of its own.
    func finding(_ message: String, isSystems: Bool) -> Finding {
        guard pulse || pipeWire && manager else {
            let isHalf = pipeWire && !manager
            return Finding(
                "server", .fault, message,
                meaning: isHalf
                    ? "wireplumber is not installed; without it PipeWire finds no card"
                    : "no sound server is installed: neither pulseaudio nor pipewire-pulse with wireplumber",
                action: "sudo apt install " + (isHalf ? "wireplumber" : "pulseaudio")
                    + (isSystems ? "; sudo systemctl restart nowplayingd" : ""))
        }
        let unit = pulse ? "nowplayingd-sound" : "nowplayingd-sound-pipewire"
        return Finding(
            "server", .fault, message,
            meaning: "playback is stalled until a server answers, and resumes then",
            action: isSystems
                ? "sudo systemctl restart \(unit); journalctl -u \(unit)"
                : "systemctl --user start pipewire-pulse, or pulseaudio --start")
    }
}
