import AudioCore
import ControlProtocol
import LinuxSystem
import MediaAccess
import NowPlaying
import PlaybackEngine
import TestSupport
import Testing

@testable import StateKeeping

/// The saved queue as bytes: it reads back as it was written, and no other bytes are accepted as a queue.
@Suite struct JournalTests {
    static let identity: UInt64 = 0x1234_5678_9abc_def0

    /// A history of changes: the bytes of a journal, where each change begins, and the queue after each.
    private struct History {
        var bytes: [UInt8] = []
        var ends: [Int] = []
        var queues: [PlayQueue] = []

        init(seed: UInt64, changes: Int) {
            var random = SeededRandom(seed: seed)
            var queue = PlayQueue()
            queue.insert((1...3).map { Self.entry($0) }, at: 0)
            Journal.writeSnapshot(queue, CommandSettings(), sequence: 7, identity: JournalTests.identity) {
                (piece) throws(Never) in bytes += piece
            }
            ends.append(bytes.count)
            queues.append(queue)
            queue.recordEdits()
            var next: Int64 = 10
            for _ in 0..<changes {
                Self.change(&queue, &next, &random)
                for edit in queue.takeEdits() {
                    bytes += Journal.frame(
                        EditCoding.encode(edit), sequence: UInt64(7 + ends.count), identity: JournalTests.identity)
                    ends.append(bytes.count)
                    var done = queues[queues.count - 1]
                    done.apply(edit)
                    queues.append(done)
                }
            }
            #expect(queues.last?.entries.map(\.id) == queue.entries.map(\.id))
        }

        private static func change(_ queue: inout PlayQueue, _ next: inout Int64, _ random: inout SeededRandom) {
            let ids = queue.entries.map(\.id)
            switch Int.random(in: 0..<7, using: &random) {
            case 0, 1:
                let count = Int64.random(in: 1...4, using: &random)
                queue.insert(
                    (next..<next + count).map { entry($0) }, at: Int.random(in: 0...ids.count, using: &random))
                next += count
            case 2: queue.remove(Set(ids.shuffled(using: &random).prefix(2)))
            case 3:
                queue.move(
                    Array(ids.shuffled(using: &random).prefix(2)), to: Int.random(in: 0...ids.count, using: &random))
            case 4: queue.shuffle(keepingFirst: ids.randomElement(using: &random), using: &random)
            case 5 where Int.random(in: 0..<4, using: &random) == 0: queue.clear()
            default:
                guard let id = ids.randomElement(using: &random) else { return }
                var given = MediaMetadata()
                given.title = "title \(next)"
                queue.setDetails(ItemDetails(given: given, duration: Double(next)), of: id)
            }
        }

        private static func entry(_ number: Int64) -> QueueEntry {
            var given = MediaMetadata()
            given.artist = "artist \(number / 12)"
            let source: MediaSource =
                switch number % 4 {
                case 0: .file("/music/album \(number / 4)/0\(number).flac")
                case 1:
                    .confined(
                        ConfinedPath(
                            root: "/srv/music",
                            relative: FilePath([0x61, 0x2f, 0xff] + Array("ü \(number).wav".utf8)) ?? ""))
                case 2 where number % 8 == 2: .handedOver(name: "descriptor:\(number)")
                case 2:
                    .remote(
                        RemoteMedia(
                            address: "http://a:b@radio/\(number)", shownAddress: "http://radio/\(number)",
                            mayUseLoopback: number % 16 == 6))
                default:
                    .segment(
                        MediaSegment(
                            audio: .file("/music/album \(number).flac"), sheet: .file("/music/album \(number).cue"),
                            number: Int(number), start: MediaTime(number, perSecond: 75),
                            end: number % 8 == 3 ? nil : MediaTime(number + 750, perSecond: 75)))
                }
            return QueueEntry(
                id: ItemID(number), source: source, details: number % 3 == 0 ? ItemDetails(given: given) : nil)
        }
    }

    private static func words(_ queue: PlayQueue) -> [String] {
        queue.entries.map { entry in
            let details = entry.details.map { "\($0.given.title ?? "") \($0.given.artist ?? "") \($0.duration ?? 0)" }
            return "\(entry.id.number) \(entry.source.uri) \(details ?? "-")"
        }
    }

    private static func read(_ bytes: [UInt8]) -> Journal.Contents { bytes.withUnsafeBytes { Journal.read($0) } }

    @Test(arguments: 0..<100) func readsWhatWasWritten(seed: UInt64) throws {
        let history = History(seed: seed, changes: 40)
        let contents = Self.read(history.bytes)
        let queue = try #require(history.queues.last)
        #expect(contents.state == .whole)
        #expect(contents.identity == Self.identity)
        #expect(contents.sequence == UInt64(6 + history.ends.count))
        #expect(Self.words(contents.queue) == Self.words(queue))
        #expect(contents.queue.version == queue.version)
        // Written as a whole, it is the same.
        var bytes: [UInt8] = []
        Journal.writeSnapshot(queue, CommandSettings(), sequence: 99, identity: 5) {
            (piece) throws(Never) in bytes += piece
        }
        let again = Self.read(bytes)
        #expect(again.state == .whole && again.sequence == 99 && again.queue.version == queue.version)
        #expect(Self.words(again.queue) == Self.words(queue))
    }

    @Test("the texts that a client gave to a folder are written once for each frame, and shared when they are read")
    func sharedTexts() throws {
        var given = MediaMetadata()
        given.artists = (0..<60).map { String(repeating: "\($0 % 10)", count: 4000) }
        let details = ItemDetails(given: given)
        var found = MediaMetadata()
        found.title = "opened"
        var entries = (1...1000).map { QueueEntry(id: ItemID($0), source: .file("/m/\($0).wav"), details: details) }
        entries[500].details = ItemDetails(given: given, found: found, duration: 3)
        entries[501].details = ItemDetails(given: given, hasOwnPictures: true)
        entries[600].details = nil
        var queue = PlayQueue()
        queue.recordEdits()
        queue.insert(entries, at: 0)
        let edit = try #require(queue.takeEdits().first)
        #expect(EditCoding.encode(edit).count < 300_000)
        var bytes: [UInt8] = []
        Journal.writeSnapshot(queue, CommandSettings(), sequence: 1, identity: 5) { (piece) throws(Never) in
            bytes += piece
        }
        #expect(bytes.count < 600_000)
        let again = Self.read(bytes)
        #expect(again.state == .whole && again.queue.count == 1000)
        for (one, other) in zip(again.queue.entries, entries) {
            #expect(one.details?.given == other.details?.given && one.details?.found == other.details?.found)
            #expect(one.details?.duration == other.details?.duration)
            #expect(one.details?.hasOwnPictures == other.details?.hasOwnPictures)
        }
    }

    @Test("cut off anywhere, it is what it was before some change")
    func truncations() {
        for seed in 0..<4 {
            let history = History(seed: UInt64(seed), changes: 12)
            for length in 0..<history.bytes.count {
                let contents = Self.read(Array(history.bytes[..<length]))
                guard let last = history.ends.lastIndex(where: { $0 <= length }) else {
                    #expect(contents.state == .broken && contents.queue.count <= 3)
                    continue
                }
                #expect((contents.state == .whole) == (history.ends[last] == length), "\(length)")
                #expect(contents.validBytes == history.ends[last])
                #expect(Self.words(contents.queue) == Self.words(history.queues[last]), "\(length)")
            }
        }
    }

    @Test("with any bit turned over, it is what it was before some change, and never whole")
    func bitFlips() {
        let history = History(seed: 3, changes: 10)
        for position in 0..<history.bytes.count * 8 {
            var bytes = history.bytes
            bytes[position / 8] ^= 1 << (position % 8)
            let contents = Self.read(bytes)
            #expect(contents.state != .whole, "bit \(position)")
            let good = history.ends.lastIndex { $0 <= position / 8 }
            guard let good else {
                #expect(contents.queue.count <= 3)
                continue
            }
            #expect(Self.words(contents.queue) == Self.words(history.queues[good]), "bit \(position)")
        }
    }

    @Test("bytes that nobody wrote never stop the reader", arguments: 0..<300)
    func garbage(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var bytes = Journal.header(identity: Self.identity)
        for _ in 0..<Int.random(in: 1..<5, using: &random) {
            let payload = (0..<Int.random(in: 1..<60, using: &random)).map { _ in
                Int.random(in: 0..<3, using: &random) == 0
                    ? UInt8.random(in: 0...8, using: &random) : UInt8.random(in: 0...255, using: &random)
            }
            bytes += Journal.frame(payload, sequence: 1, identity: Self.identity)
        }
        let contents = Self.read(bytes)
        #expect(contents.state == .broken)
    }

    @Test func aLaterVersionIsLeftAlone() {
        var writer = ByteWriter()
        writer.fixed(Journal.magic)
        writer.fixed(UInt32(2))
        writer.fixed(UInt32(0))
        writer.fixed(Self.identity)
        writer.fixed(writer.bytes.withUnsafeBytes { Checksum.of($0, seed: 0) })
        #expect(Self.read(writer.bytes + [1, 2, 3]).state == .newer(2))
    }

    @Test("changes that are known already are left out, and nothing is done behind a gap")
    func followingChanges() throws {
        let history = History(seed: 9, changes: 12)
        for known in history.ends.indices.dropFirst() {
            var contents = Self.read(Array(history.bytes[..<history.ends[known]]))
            let rest = Array(history.bytes[history.ends[0]...])
            let (start, end) = rest.withUnsafeBytes { Journal.apply($0, to: &contents) }
            #expect(end == rest.count)
            #expect(start == history.ends[known] - history.ends[0])
            #expect(Self.words(contents.queue) == Self.words(try #require(history.queues.last)))
        }
        var contents = Self.read(Array(history.bytes[..<history.ends[2]]))
        let behind = Array(history.bytes[history.ends[4]...])
        let (start, end) = behind.withUnsafeBytes { Journal.apply($0, to: &contents) }
        #expect(start == 0 && end == 0)
        #expect(Self.words(contents.queue) == Self.words(history.queues[2]))
    }
}

/// Saved metadata of items, and the player's position.
@Suite struct SavedFieldTests {
    @Test("every field that a client can give is saved")
    func everyField() throws {
        var fields = JSONObject()
        for (position, parameter) in Catalogue.itemFields.enumerated() {
            fields[parameter.name] =
                switch parameter.type {
                case .text: .string("\(parameter.name) ü")
                case .integer: .integer(Int64(position + 1))
                case .boolean: .bool(position % 2 == 0)
                case .positiveNumber: .number(Double(position) + 0.5)
                case .numberIn: .number(1.5)
                case .choice(let words): .string(words[2])
                case .object: ["1:1": "/a ü.mp4", "3:4": "file:///b.webm"]
                case .array(.object, _): [["start": 1, "duration": 2.5, "title": "one"], ["start": 7, "duration": 1]]
                case .array: ["one", "two"]
                default: .null
                }
        }
        fields["duration"] = 2.5
        var metadata = MediaMetadata(fields: fields)
        // Only files have these.
        metadata.show = "show ü"
        metadata.language = "deu"
        // The loudness of a file is read with the file.
        for child in Mirror(reflecting: metadata).children where child.label != "loudness" {
            #expect("\(child.value)" != "nil" && "\(child.value)" != "[]", "\(child.label ?? "") is not given here")
        }
        let details = ItemDetails(
            given: metadata, found: MediaMetadata(), duration: 12.25,
            format: MediaFormat(codec: "FLAC", sampleRate: 44100, channels: 2, bitsPerSample: 16, bitRate: 700_000))
        var writer = ByteWriter()
        writer.details(details)
        let read = try writer.bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            return try reader.details()
        }
        #expect(read.given == metadata)
        #expect(read.found == MediaMetadata())
        #expect(read.mediaDuration == 12.25)
        #expect(read.format == details.format)
    }

    @Test func commands() throws {
        let settings: [RemoteCommand: CommandCentre.Setting] = [
            .skipForward: .init(preferredIntervals: [15, 30.5]), .pause: .init(isEnabled: false, reason: "“children”"),
            .play: .init(isEnabled: true), .changePlaybackRate: .init(supportedPlaybackRates: [1, 1.5]),
        ]
        let bytes = CommandSettings(settings).encoded()
        #expect(try bytes.withUnsafeBytes { try CommandSettings($0) }.settings == settings)
        for length in bytes.indices {
            #expect(throws: ByteReader.Malformed.self) {
                try bytes[..<length].withUnsafeBytes { try CommandSettings($0) }
            }
        }
    }

    @Test func delays() throws {
        let settings: [RemoteCommand: CommandCentre.Setting] = [.play: .init(isEnabled: true)]
        let delays = ["alsa_output.hdmi": 0.25, "ü": 0, "long": 10]
        let bytes = CommandSettings(settings, delays: delays).encoded()
        let read = try bytes.withUnsafeBytes { try CommandSettings($0) }
        #expect(read.settings == settings && read.delays == delays)
        let old = CommandSettings(settings).encoded()
        #expect(bytes.starts(with: old))
        for length in bytes.indices where length != old.count {
            #expect(throws: ByteReader.Malformed.self) {
                try bytes[..<length].withUnsafeBytes { try CommandSettings($0) }
            }
        }
        // A delay beyond the limits is left out.
        let beyond = CommandSettings(settings, delays: ["a": 11, "c": -1]).encoded()
        #expect(try beyond.withUnsafeBytes { try CommandSettings($0) }.delays.isEmpty)
    }

    @Test func skews() throws {
        let settings: [RemoteCommand: CommandCentre.Setting] = [.play: .init(isEnabled: true)]
        let skews = [
            "pulseaudio|alsa|ü": DeviceSkews.Kept(KnownSkew(-0.0001, deviation: 1e-6), at: 1.7e9),
            "pipewire|a|b": DeviceSkews.Kept(KnownSkew(0, deviation: 5e-6), at: 0),
        ]
        let bytes = CommandSettings(settings, skews: skews).encoded()
        let read = try bytes.withUnsafeBytes { try CommandSettings($0) }
        #expect(read.settings == settings && read.delays.isEmpty && read.skews == skews)
        let old = CommandSettings(settings).encoded()
        #expect(bytes.starts(with: old))
        // A version without skews ends after the delays, of which there are none.
        for length in bytes.indices where length != old.count && length != old.count + 1 {
            #expect(throws: ByteReader.Malformed.self) {
                try bytes[..<length].withUnsafeBytes { try CommandSettings($0) }
            }
        }
        // A skew that no device has is left out.
        let wrong = ["a": DeviceSkews.Kept(KnownSkew(0.1, deviation: 1e-6), at: 0)]
        let beyond = CommandSettings(settings, skews: wrong).encoded()
        #expect(try beyond.withUnsafeBytes { try CommandSettings($0) }.skews.isEmpty)
    }

    @Test func positions() throws {
        var position = SavedPosition()
        position.wish = .playing
        position.item = ItemID(1_000_000_001)
        position.elapsed = 83.204512471
        position.playCount = 2
        position.rate = 1.75
        position.volume = 0.35
        position.muted = true
        position.modes = PlayModes(.repetition(.all), .shuffle(.items), .consume(.once), .single(.on))
        position.loudness = LoudnessSettings(mode: .album, preamp: -3.5)
        position.crossfade = CrossfadeSettings(seconds: 4.5)
        position.fades = FadeSettings(fadeIn: 0.25, fadeOut: 5)
        let bytes = try #require(PositionSlot.encode(position, number: 77))
        let read = try #require(bytes.withUnsafeBytes { PositionSlot.decode($0) })
        #expect(read.position == position && read.number == 77)
        for bit in 0..<bytes.count * 8 {
            var wrong = bytes
            wrong[bit / 8] ^= 1 << (bit % 8)
            #expect(wrong.withUnsafeBytes { PositionSlot.decode($0) == nil }, "bit \(bit)")
        }
        for length in bytes.indices {
            #expect(bytes[..<length].withUnsafeBytes { PositionSlot.decode($0) == nil })
        }
    }

    @Test("a position that an older version wrote, with fewer words, is read")
    func olderPosition() {
        let json = Array(#"{"wish":"paused","item":7,"elapsed":1.5,"volume":0.4}"#.utf8)
        var writer = ByteWriter()
        writer.fixed(UInt32(0x3153_504e))
        writer.fixed(UInt32(json.count))
        writer.fixed(UInt64(3))
        writer.fixed(json.withUnsafeBytes { Checksum.of($0, seed: 3) })
        let (position, number) = (writer.bytes + json).withUnsafeBytes { PositionSlot.decode($0)! }
        #expect(number == 3 && position.wish == .paused && position.item == ItemID(7) && position.elapsed == 1.5)
        #expect(position.volume == 0.4 && !position.muted && position.rate == nil && position.modes == PlayModes())
    }

    @Test("what anybody expects is no news")
    func expected() {
        var before = SavedPosition()
        before.item = ItemID(3)
        before.elapsed = 10
        before.wish = .playing
        var now = before
        now.elapsed = 40.4
        #expect(now.follows(before, after: 30))
        #expect(!now.follows(before, after: 20))
        // At twice the rate twice as much goes by, and none while nothing is heard.
        before.pace = 2
        #expect(now.follows(before, after: 15.2) && !now.follows(before, after: 30))
        before.pace = 0
        #expect(!now.follows(before, after: 30))
        before.pace = 1
        now.rate = 2
        #expect(!now.follows(before, after: 30))
        now.rate = nil
        now.wish = .paused
        #expect(!now.follows(before, after: 30))
        before.wish = .paused
        before.elapsed = 40.4
        #expect(now.follows(before, after: 1000))
        now.elapsed = 40.400001
        #expect(!now.follows(before, after: 1000))
    }
}
