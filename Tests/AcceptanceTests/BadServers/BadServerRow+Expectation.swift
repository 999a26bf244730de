/// Expected sound, states and bytes of each row.
extension BadServerRow {
    /// True if a listener can begin anywhere.
    var isSeekable: Bool { !isLive && (format == .hls || hasLength && sendsParts) }
    /// True if the row seeks before the restart.
    var isSought: Bool { trouble == .restart && isSeekable }
    /// Position that it seeks to, in seconds.
    static let soughtPosition = 18.0
    /// True for a file that is live until its end shows that it is none: it has no length and no index.
    var isUndecided: Bool { !isLive && !hasLength && format != .m4a && format != .hls }

    /// All that is wrong with an outcome.
    func faults(of outcome: BadServerOutcome, _ material: BadServerMaterial) -> [String] {
        var all = outcome.failures
        func expect(_ isRight: Bool, _ words: String) { if !isRight { all.append(words) } }
        // Sound.
        let stretches = outcome.heard.stretches(joining: joined)
        let wanted = self.stretches(material)
        expect(
            stretches.count == wanted.count && zip(stretches, wanted).allSatisfy { $1.holds($0) },
            "heard \(stretches), expected \(wanted)")
        let silence = outcome.heard.silence
        let wait = trouble == .silence ? silence + (outcome.heard.runs.first?.place ?? 0) : silence
        expect(trouble == .restart || silences.contains(wait), "silent for \(wait) frames, expected \(silences)")
        // A coder starts and ends each stretch in its own way, for up to two of its frames.
        let mostUnknown = 2048 * (outcome.heard.runs.count + 1)
        expect(outcome.heard.unknown <= mostUnknown, "\(outcome.heard.unknown) unknown frames")
        if trouble == .restart, !isLive, !isUndecided {
            // The second daemon plays the frame whose position it publishes.
            let found = Int(((outcome.positions.found ?? -1) * Double(Self.rate)).rounded())
            expect(
                outcome.heard.runs.contains { abs($0.first - found) <= 1 },
                "heard \(outcome.heard), published the frame \(found)")
        }
        // States.
        expect(outcome.events == events, "published \(outcome.events), expected \(events)")
        expect(outcome.errors.isEmpty, "errors: \(outcome.errors)")
        expect(trouble == .silence ? outcome.hasWaited : true, "no state says that the source is late")
        if trouble == .notFound {
            // On a busy machine, the command is answered before the server is.
            expect(
                outcome.refusal?.contains("(404)") ?? outcome.hasWaited, "the answer to play: \(outcome.refusal ?? "-")"
            )
        } else {
            expect(outcome.refusal == nil, "the answer to play: \(outcome.refusal ?? "-")")
        }
        let kind = isLive || isUndecided ? "live" : "file"
        expect(outcome.items.allSatisfy { $0.hasPrefix(kind) }, "shown as \(outcome.items), expected \(kind)")
        if isLive, isIcy {
            let title = format == .hls ? "live / Kitchen" : "live / Cook / Song 0 / Kitchen"
            expect(outcome.items.contains { $0.hasPrefix(title) }, "shown as \(outcome.items), expected \(title)")
        }
        // Bytes.
        expect(trouble == .restart || trouble == .redirects || outcome.hadTrouble, "no trouble came")
        if !isLive {
            let most = loaded(material, from: outcome.positions.left)
            expect(outcome.loaded <= most, "\(outcome.loaded) bytes were loaded, expected \(most)")
            // Both ends, and the places of a search: none is loaded twice.
            let connections = outcome.bodies.count - outcome.bodiesBefore
            expect(!isSought || connections <= Self.searches, "\(connections) connections, expected \(Self.searches)")
        } else if format != .hls {
            let connections = trouble == .drop || trouble == .silence || trouble == .restart ? 2 : 1
            expect(outcome.bodies.count == connections, "\(outcome.bodies.count) connections, expected \(connections)")
        }
        return all
    }

    // MARK: Sound

    /// A stretch of a known recording: each bound in frames.
    struct Stretch: CustomStringConvertible {
        var source = 0
        var first = 0...0
        var end: ClosedRange<Int>

        /// True if frames from here to there are it.
        func holds(_ run: HeardFrames.Run) -> Bool {
            run.source == source && first.contains(run.first) && end.contains(run.end)
        }
        var description: String { "\(source): \(first) to \(end)" }
    }

    private static let rate = BadServerMaterial.sampleRate
    /// Frames that a restart plays twice, at most: the sink plays what it has taken while the daemon ends, for some 50 ms, and
    /// up to half a second on a busy machine.
    private static let heardTwice = rate / 2
    /// Connections of a search for a position in a file, at most. HLS has one for each part, six of them after the position.
    private static let searches = 12
    /// Frames of a step in which the sink takes sound: it may have taken the place of the first ones of a jump.
    private static let step = BadServerLane.latency * rate / 1000

    /// Frames that may be lost between two runs of one stretch: none. A restart plays some twice.
    private var joined: ClosedRange<Int> { trouble == .restart ? -Self.heardTwice...0 : 0...0 }

    /// Frames of silence, at most and at least: after the first sound, or in all before a silent server.
    private var silences: ClosedRange<Int> {
        switch trouble {
        // A second or more is ahead (less in Ogg, whose broken page is lost): silence comes only while a machine is so busy that
        // a connection and the beginning of its sound take longer. A second attempt would come ten seconds after the first.
        case .drop: 0...4 * Self.rate
        case .notFound, .redirects, .restart: 0...Self.rate / 2
        // It ended in the silence.
        case .silence where isUndecided: 0...24 * Self.rate
        // 15 s until the connection counts as dead, less all that was ahead; and the start of the daemon.
        case .silence: 8 * Self.rate...24 * Self.rate
        }
    }

    /// Frames at a part of the bytes of a recording of so many seconds. A coder gives whole frames (Ogg: whole pages of up to a
    /// second), each with a number of bytes of its own.
    private func cut(_ part: Double, ofSeconds seconds: Int) -> ClosedRange<Int> {
        let frames = Int(part * Double(seconds * Self.rate))
        let piece: Int
        switch format {
        case .mp3: piece = 1152
        case .aac, .m4a, .hls: piece = 1024
        case .ogg: piece = Self.rate / 2
        case .flac: piece = 4608
        }
        return frames - 2 * piece - 1152...frames + 2 * piece
    }

    private func stretches(_ material: BadServerMaterial) -> [Stretch] {
        let seconds = isLive ? BadServerMaterial.liveSeconds : material.seconds(self)
        // The last frame of a coder is whole, and ADTS has the frames of the encoder's delay.
        let whole = seconds * Self.rate...seconds * Self.rate + 2048
        let some = 1...seconds * Self.rate
        let sought = Int(Self.soughtPosition) * Self.rate
        switch trouble {
        case .drop, .silence:
            if format == .hls { return parts(whole) }
            if isLive {
                return [
                    Stretch(end: cut(BadServerScript.liveTrouble, ofSeconds: seconds)), Stretch(source: 1, end: some),
                ]
            }
            // The next connection begins alike: it has ended.
            return [Stretch(end: isUndecided ? cut(BadServerScript.fileTrouble, ofSeconds: seconds) : whole)]
        case .notFound, .redirects: return [Stretch(first: begin, end: isLive ? some : whole)]
        case .restart:
            if isLive {
                // A growing list begins at its present end.
                let next = Stretch(first: 0...Int.max, end: 1...Int.max)
                return [Stretch(first: begin, end: some), format == .hls ? next : Stretch(source: 1, end: some)]
            }
            if isSought { return [Stretch(end: some), Stretch(first: sought...sought + Self.step, end: whole)] }
            return isUndecided ? [Stretch(end: some), Stretch(end: whole)] : [Stretch(end: whole)]
        }
    }

    /// First frame that plays. A growing list begins at its present end, which moves on while a busy machine starts.
    private var begin: ClosedRange<Int> { isLive && format == .hls ? 0...5 * Self.rate : 0...0 }

    /// The stretches of an HLS stream at a part that breaks.
    private func parts(_ whole: ClosedRange<Int>) -> [Stretch] {
        // A complete list plays without missing parts, where anything shows that the rest of one is missing.
        if !isLive, hasLength || isChunked || trouble == .silence { return [Stretch(end: whole)] }
        // Its rest is loaded by a range.
        if isLive, trouble == .drop, hasLength, offersParts { return [Stretch(first: begin, end: 1...Int.max)] }
        let part = BadServerMaterial.segmentSeconds * Self.rate
        let shown = BadServerMaterial.shownSegments * part
        let broken = shown...begin.upperBound + shown + part + 2048
        // The rest of the part, and those that leave a growing list in the meantime.
        let lost = trouble == .silence ? 17 * Self.rate : part + 2048
        let next = broken.lowerBound...broken.upperBound + lost
        return [
            Stretch(first: begin, end: broken), Stretch(first: next, end: isLive ? broken.lowerBound...Int.max : whole),
        ]
    }

    // MARK: States

    /// The events that are published, without waits for the source.
    private var events: [String] {
        let begin = trouble == .notFound ? ["stalled unreachable", "playing"] : ["playing"]
        let end = isLive ? [] : ["stopped"]
        return begin + (trouble == .restart ? ["|", "playing"] : []) + end
    }

    // MARK: Bytes

    /// Bytes that are loaded, at most; after a restart, from a position in seconds on.
    private func loaded(_ material: BadServerMaterial, from position: Double) -> Int {
        let size = material.size(self)
        // Both sockets take some bytes before a connection ends, and the end of a file shows its length.
        let slack = 192 << 10
        let broken = Int(Double(size) * BadServerScript.fileTrouble)
        switch trouble {
        // Others change the network of this machine, upon which the daemon begins an attempt again.
        case .notFound: return 2 * size + slack
        case .redirects: return size + slack
        case .drop, .silence: return (isSeekable ? size : isUndecided ? broken : size + broken) + slack
        case .restart:
            guard isSeekable else { return size + slack }
            // FFmpeg reads ADTS from its beginning up to the position.
            if format == .aac { return size + slack }
            // The search for the position. Ogg and FLAC have no index here: FFmpeg looks at several places in them, and each
            // connection sends until a busy machine ends it.
            let searched = format == .ogg || format == .flac ? 640 << 10 : 256 << 10
            return Int(Double(size) * (1 - position / Double(material.seconds(self)))) + searched
        }
    }
}
