/// A stream of some program at the sound server, as far as it matters to us.
struct PulseStreamInfo: Sendable, Equatable {
    /// The stream's number at the server (`sink input`).
    var index: UInt32
    /// The sink that it plays on.
    var sink: UInt32
    /// As its program names itself: `Shairport Sync`.
    var application: String
    /// The program's file: `shairport-sync`.
    var binary: String
    /// `music`, `phone`, …; empty where it has none.
    var role: String
    var isCorked: Bool
    /// The loudest channel on the server's scale: 65,536 is 100 %.
    var volume: UInt32
    var isMuted: Bool
    /// True if every channel is at exactly 100 % and not muted.
    var isNeutral = true
}

/// Programs that may interrupt us with their streams, and those that do so now. A pure value.
struct Neighbours: Equatable {
    /// A change of the interruption.
    enum Change: Equatable {
        /// The first of them started; its name.
        case began(String)
        /// The last of them has ended.
        case ended
    }

    /// Names of the programs, as the configuration has them.
    let programs: [String]
    /// Streams of such programs that play on our sink, whether they interrupt us or were there before.
    private var playing: Set<UInt32> = []
    /// Those of them that interrupt us.
    private var interrupting: Set<UInt32> = []

    /// Watches for streams of these programs, as their names or files are; nothing is known to play yet.
    init(programs: [String] = []) { self.programs = programs }

    /// Letters and digits of a name, in lower case: `Shairport Sync` is `shairport-sync`.
    private static func plain(_ name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }

    private func isMeant(_ stream: PulseStreamInfo) -> Bool {
        let names = [stream.application, stream.binary].map(Self.plain)
        return programs.contains { names.contains(Self.plain($0)) }
    }

    /// Takes what a stream is like now. `wasThere`: it played before we did, so that it starts nothing.
    mutating func update(_ stream: PulseStreamInfo, ourSink: UInt32?, wasThere: Bool = false) -> Change? {
        guard isMeant(stream), !stream.isCorked, stream.sink == ourSink else { return ended(stream.index) }
        guard playing.insert(stream.index).inserted, !wasThere else { return nil }
        let isFirst = interrupting.isEmpty
        interrupting.insert(stream.index)
        return isFirst ? .began(stream.application.isEmpty ? stream.binary : stream.application) : nil
    }

    /// A stream is gone, or plays no more.
    mutating func ended(_ index: UInt32) -> Change? {
        playing.remove(index)
        guard interrupting.remove(index) != nil, interrupting.isEmpty else { return nil }
        return .ended
    }

    /// Those who play now interrupt nobody any more: the user wants us beside them.
    mutating func accept() { interrupting = [] }

    /// Nothing is known any more.
    mutating func forget() {
        playing = []
        interrupting = []
    }
}
