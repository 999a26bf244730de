import ControlProtocol
import NowPlaying
import NowPlayingClient

/// A state in words.
enum StatusText {
    /// The present text of a template for this state.
    static func expand(_ template: Template, _ state: StateView, at time: MonotonicTime = MonotonicTime.now)
        -> String
    {
        template.expand { state.variable($0, at: time) }
    }

    /// Lines of `status`.
    static func lines(_ state: StateView, _ output: Output, at time: MonotonicTime = MonotonicTime.now) -> [String] {
        var lines: [String] = []
        if let title = state.title {
            lines.append(output.styled(title, .bold))
            if let origin = origin(state) { lines.append(origin) }
        }
        lines.append(word(state, output) + "  " + position(state, at: time))
        if let text = pending(state, at: time) { lines.append(output.styled(text, .yellow)) }
        if let text = advertisement(state) { lines.append(output.styled(text, .yellow)) }
        if let text = feedback(state) { lines.append(output.styled(text, .dim)) }
        if let text = chapter(state) { lines.append(output.styled(text, .dim)) }
        if let item = state.item, let rest = details(item, state) { lines.append(output.styled(rest, .dim)) }
        var sound = ["volume " + volume(state)]
        if let name = state.text("output", "description") ?? state.text("output", "name") {
            sound.append("output " + name)
        }
        if let exact = state.json["output"]?["bitPerfect"], let value = exact["value"]?.boolValue {
            let reason = state.text("output", "bitPerfect", "reason").map { ": " + fidelity($0) } ?? ""
            sound.append(value ? "bit-perfect" : "not bit-perfect" + reason)
        }
        lines.append(output.styled(sound.joined(separator: "   "), .dim))
        if let sleep = sleep(state) { lines.append(output.styled("sleep: " + sleep, .dim)) }
        if let title = state.text("upcoming", "title") {
            let artist = state.text("upcoming", "artist").map { $0 + " – " } ?? ""
            lines.append(output.styled("next: " + artist + title, .dim))
        }
        if state.state == .stalled { lines.append(output.styled(stall(state.stallReason), .yellow)) }
        if let text = interruption(state) { lines.append(output.styled(text, .yellow)) }
        if let error = error(state) { lines.append(output.styled("error: " + error, .red)) }
        return lines
    }

    /// The state's name in its colour.
    static func word(_ state: StateView, _ output: Output) -> String {
        output.styled(state.stateName, state.state == .playing ? .green : .yellow)
    }

    /// Artist and album.
    static func origin(_ state: StateView) -> String? {
        let artist = state.text("item", "artist") ?? state.text("item", "albumArtist")
        let album = state.text("item", "albumTitle").map { album in
            album + (state.text("item", "releaseDate").map { " (\($0.prefix(4)))" } ?? "")
        }
        let parts = [artist, album].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: " – ")
    }

    /// `Artist – Title`, or the title alone; nil without an item.
    static func name(_ state: StateView) -> String? {
        guard let title = state.title else { return nil }
        return (state.text("item", "artist").map { $0 + " – " } ?? "") + title
    }

    /// `1:23 / 9:22  15 %   3 of 12`, or a remedy if no item is current.
    static func position(_ state: StateView, at time: MonotonicTime) -> String {
        guard let position = state.position(at: time) else {
            return state.queueCount == 0
                ? "the queue is empty; play something: nowplayingctl play FILE"
                : "at the end of the queue of \(state.queueCount); start again: nowplayingctl play"
        }
        var parts = [clock(position, state.duration)]
        if let duration = state.duration, duration > 0 { parts.append("\(Int(clamping: position / duration * 100)) %") }
        if let index = state.queueIndex { parts.append("  \(index + 1) of \(state.queueCount)") }
        return parts.joined(separator: "  ")
    }

    /// `1:23 / 9:22`, or the position alone if the duration is unknown.
    static func clock(_ position: Double, _ duration: Double?) -> String {
        ClockText.clock(position) + (duration.map { " / " + ClockText.clock($0) } ?? "")
    }

    /// `80 %`.
    static func volume(_ state: StateView) -> String {
        let percent = state.volume.map { ClockText.number(($0 * 1000).rounded() / 10, places: 1) + " %" } ?? "unknown"
        return state.isMuted ? percent + ", muted" : percent
    }

    /// Text for a reason why the sound is not bit-perfect.
    private static func fidelity(_ reason: String) -> String {
        switch reason {
        case "rate": "the rate is not 1"
        case "loudness": "loudness normalisation is on"
        case "volume": "the volume is not 100 %"
        case "sampleRate": "the output has another sample rate"
        case "sampleFormat": "the output has a lower resolution"
        case "channels": "the output has other channels"
        case "deviceVolume": "the sound server applies the output's volume"
        default: reason
        }
    }

    /// `auto, preamp -3 dB: the present item -6.5 dB, as its album asks`.
    static func loudness(_ state: StateView) -> String {
        var text = state.text("loudness", "mode") ?? "unknown"
        let loudness = state.json["loudness"]
        if let preamp = loudness?["preamp"]?.doubleValue, preamp != 0 { text += ", preamp " + decibels(preamp) }
        guard state.text("loudness", "mode") != "off", state.item != nil else { return text }
        guard let gain = loudness?["gain"]?.doubleValue else { return text + ": the current item has no such tags" }
        return text + ": the current item gets \(decibels(gain)) by its \(state.text("loudness", "basis") ?? "tag") tag"
    }

    /// `5 s`; `off` without an overlap.
    static func crossfade(_ state: StateView) -> String {
        guard let seconds = state.json["crossfade"]?["seconds"]?.doubleValue, seconds > 0 else { return "off" }
        return ClockText.number(seconds, places: 2) + " s"
    }

    /// `in 0.3 s, out 0.5 s`; `off` without a fade.
    static func fades(_ state: StateView) -> String {
        let fades = [("in", "fadeIn"), ("out", "fadeOut")].compactMap { word, name -> String? in
            guard let seconds = state.json[name]?.doubleValue, seconds > 0 else { return nil }
            return "\(word) \(ClockText.number(seconds, places: 2)) s"
        }
        return fades.isEmpty ? "off" : fades.joined(separator: ", ")
    }

    private static func decibels(_ gain: Double) -> String {
        (gain > 0 ? "+" : "") + ClockText.number(gain, places: 2) + " dB"
    }

    /// Reason for a stall, and the remedy.
    static func stall(_ reason: String?) -> String {
        switch reason {
        case "noServer":
            "no sound server answers: start PipeWire or PulseAudio, the Snapcast server or the reader of the pipe, or find "
                + "the cause by nowplayingctl doctor; playback resumes then"
        case "serverHung": "the sound server or the Snapcast server does not answer: restart it; playback resumes then"
        case "noOutput": "there is no output: connect or switch one on; playback resumes then"
        case "suspended":
            "the sound server or another session has suspended the output; playback resumes with it"
        case "sourceLate": "the file or stream is too slow; playback resumes when enough data has arrived"
        case "mediaGone": "the disk or stick with the file is gone: connect and mount it again"
        case "noNetwork":
            "this machine reaches no network: check the cable or Wi-Fi, the router, the name server and the clock; playback resumes then"
        case "unreachable":
            "the address of the item fails: check it, and the server behind it; the daemon tries it again"
        case let other?: "no sound is possible now: \(other)"
        case nil: "no sound is possible now; playback resumes by itself"
        }
    }

    /// `paused at 1:24, heard in 1.1 s`: the change that is not audible yet; nil: there is none.
    static func pending(_ state: StateView, at time: MonotonicTime) -> String? {
        guard let name = state.pendingState, let position = state.pendingPosition else { return nil }
        let left = state.pendingTime.map { max(0, $0.seconds(since: time)) } ?? 0
        return "\(name) at \(ClockText.clock(position)), heard in \(ClockText.number(left, places: 1)) s"
    }

    /// Text about an interruption and its end; nil: there is none.
    static func interruption(_ state: StateView) -> String? {
        guard let name = state.interrupter, state.cause != "interruption-ended" else { return nil }
        return "interrupted by \(name): "
            + (state.resumesAfterInterruption ? "playback resumes when that ends" : "playback stays paused then")
    }

    /// The last error in words; nil without one.
    static func error(_ state: StateView) -> String? {
        guard let error = state.error else { return nil }
        var text = state.text("error", "message") ?? "cannot play an item"
        if let uri = error["uri"]?.stringValue {
            let name = StateView.name(ofURI: uri)
            if !text.contains(name) { text = name + ": " + text }
        }
        let count = error["count"]?.integerValue ?? 1
        return count > 1 ? text + " (\(count) items in a row)" : text
    }

    /// Track number, format and modes, if they are known and not the defaults.
    private static func details(_ item: JSONValue, _ state: StateView) -> String? {
        var parts: [String] = []
        if let number = item["trackNumber"]?.integerValue {
            parts.append("track \(number)" + (item["trackCount"]?.integerValue.map { " of \($0)" } ?? ""))
        }
        if let codec = state.text("item", "format", "codec") {
            var format = codec
            if let rate = item["format"]?["sampleRate"]?.doubleValue {
                format += " \(ClockText.number(rate / 1000, places: 3)) kHz"
            }
            if let bits = item["format"]?["bitsPerSample"]?.integerValue { format += " \(bits) bit" }
            switch item["format"]?["channels"]?.integerValue {
            case 1: format += " mono"
            case 2: format += " stereo"
            case let channels?: format += " \(channels) channels"
            case nil: break
            }
            parts.append(format)
        }
        let anchor = state.json["anchor"]
        let rate = anchor?["rate"]?.doubleValue ?? 0
        let wanted = rate == 0 ? anchor?["defaultRate"]?.doubleValue ?? 1 : rate
        if wanted != 1 { parts.append("rate \(ClockText.number(wanted, places: 2))") }
        for mode in RemoteCommand.modes.compactMap(\.mode) {
            if let word = state.text(mode.key), word != "off" { parts.append("\(mode.word) \(word)") }
        }
        return parts.isEmpty ? nil : parts.joined(separator: "   ")
    }
}
