import ControlProtocol
import LinuxSystem
import NowPlaying

/// A state as it goes to subscribers.
struct PublishedEvent {
    let cause: Cause
    /// The session that it is of, and whether that was the active one.
    let session: String
    let isActive: Bool
    /// True if only clients that name its session get it.
    let isHidden: Bool
    /// The notification with its line end.
    let line: [UInt8]
    /// The same in other languages; nil: it has no text in any.
    var texts: TranslatedEvent?

    /// A notification of an encoded state, with its line end.
    static func notification(_ encoded: [UInt8]) -> [UInt8] {
        var writer = JSONWriter()
        writer.bytes.reserveCapacity(encoded.count + 80)
        writer.notification("nowPlaying.changed", parameters: encoded)
        writer.newline()
        return writer.bytes
    }
}

/// A state for those who asked for languages: encoded once for each choice of them, when the first asks.
@PlayerLoop final class TranslatedEvent {
    private let state: NowPlayingState
    private var lines: [[String]: [UInt8]] = [:]

    /// Nothing is encoded yet.
    init(_ state: NowPlayingState) { self.state = state }

    /// The notification with its line end.
    func line(in languages: [String], _ encoder: StateEncoder) -> [UInt8] {
        if let line = lines[languages] { return line }
        let line = PublishedEvent.notification(encoder.encode(state.localized(in: languages)))
        lines[languages] = line
        return line
    }
}
