/// The properties of a program's stream at the sound server that concern us.
struct PulseStreamInfo: Sendable, Equatable {
    /// The stream's number at the server (`sink input`).
    var index: UInt32
    /// Number of the sink that it plays on.
    var sink: UInt32
    /// Its program's name: `Shairport Sync`.
    var application: String
    /// The program's file: `shairport-sync`.
    var binary: String
    /// `music`, `phone`, …; empty: none.
    var role: String
    var isCorked: Bool
    /// Volume of the loudest channel on the server's scale: 65,536 is 100 %.
    var volume: UInt32
    var isMuted: Bool
    /// True if every channel is at exactly 100 % and not muted.
    var isNeutral = true
}

/// Programs whose streams may interrupt us, and the streams that do so now. It makes no requests.
final class Neighbours {
    /// A change of the interruption.
    enum Change: Equatable {
        /// The first interrupting stream has started; its program's name.
        case began(String)
        /// The last interrupting stream has ended.
        case ended
    }

    /// Names of the programs from the configuration.
    let programs: [String]
    /// Streams of such programs that play on our sink, including those that played before us.
    private var playing: Set<UInt32> = []
    /// Streams among them that interrupt us.
    private var interrupting: Set<UInt32> = []

    /// Watches for streams of these programs, by name or file; no stream is known yet.
    init(programs: [String] = []) { self.programs = programs }

    /// Letters and digits of a name, in lower case: `Shairport Sync` equals `shairport-sync`.
    private static func plain(_ name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }

    private func isMeant(_ stream: PulseStreamInfo) -> Bool {
        let names = [stream.application, stream.binary].map(Self.plain)
        return programs.contains { names.contains(Self.plain($0)) }
    }

    /// Applies the present state of a stream. `wasThere`: it played before us, so that it does not interrupt.
    func update(_ stream: PulseStreamInfo, ourSink: UInt32?, wasThere: Bool = false) -> Change? {
        guard isMeant(stream), !stream.isCorked, stream.sink == ourSink else { return ended(stream.index) }
        guard playing.insert(stream.index).inserted, !wasThere else { return nil }
        let isFirst = interrupting.isEmpty
        interrupting.insert(stream.index)
        return isFirst ? .began(stream.application.isEmpty ? stream.binary : stream.application) : nil
    }

    /// Applies the end of a stream or of its sound.
    func ended(_ index: UInt32) -> Change? {
        playing.remove(index)
        guard interrupting.remove(index) != nil, interrupting.isEmpty else { return nil }
        return .ended
    }

    /// Ends the present interruptions: the user wants us to play beside these programs.
    func accept() { interrupting = [] }

    /// Drops all streams.
    func forget() {
        playing = []
        interrupting = []
    }
}
