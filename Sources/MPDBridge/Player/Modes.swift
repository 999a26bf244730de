import ControlProtocol
import MPDProtocol
import NowPlayingClient

/// MPD's four flags, and the equivalent modes of the daemon.
struct Modes: Equatable, Sendable {
    /// A flag that may apply once.
    enum Occasion: String, Sendable {
        case off = "0"
        case on = "1"
        case once = "oneshot"

        /// The daemon's word.
        var word: String {
            switch self {
            case .off: "off"
            case .on: "on"
            case .once: "once"
            }
        }

        /// Reads `0`, `1` or `oneshot`. Throws MPD's message about the flag of this name.
        init(_ argument: Argument, of flag: String) throws(MPDFailure) {
            guard let occasion = Occasion(rawValue: argument.text) else {
                throw MPDFailure(.argument, "Unrecognized \(flag) mode, expected 0, 1, or oneshot")
            }
            self = occasion
        }

        fileprivate init(word: String?) {
            switch word {
            case "on": self = .on
            case "once": self = .once
            case _: self = .off
            }
        }
    }

    var isRepeating = false
    var isRandom = false
    var single = Occasion.off
    var consume = Occasion.off

    /// The flags of a state; without a state, the flags of a stopped daemon.
    init(_ state: StateView?) {
        guard let json = state?.json else { return }
        let mode = json["repeatMode"]?.stringValue
        isRepeating = mode == "all" || mode == "one"
        isRandom = (json["shuffleMode"]?.stringValue ?? "off") != "off"
        single = mode == "one" ? .on : Occasion(word: json["singleMode"]?.stringValue)
        consume = Occasion(word: json["consumeMode"]?.stringValue)
    }

    /// The daemon's repeat mode. The repetition of one song is a mode of its own.
    var repeatMode: String {
        switch (isRepeating, single) {
        case (true, .on): "one"
        case (true, .off), (true, .once): "all"
        case (false, _): "off"
        }
    }

    /// The daemon's single mode.
    var singleMode: String { isRepeating && single == .on ? "off" : single.word }
}
