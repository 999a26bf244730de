import AudioCore
import ChildDecoding
import LinuxSystem
import NowPlaying
import PlaybackEngine
import TestSupport

@testable import StateKeeping

/// Input from the disk and from the confined child.
extension FuzzTarget {
    /// A journal as it lies on the disk.
    static let journal = FuzzTarget(
        name: "journal",
        seeds: {
            let identity: UInt64 = 0x1234_5678_9abc_def0
            let frames = (1...3).map { Journal.frame([UInt8($0)], sequence: $0, identity: identity) }
            return [Journal.header(identity: identity), Journal.header(identity: identity) + frames.flatMap { $0 }]
        },
        run: { bytes in
            let contents = bytes.withUnsafeBytes { Journal.read($0) }
            precondition(contents.validBytes <= bytes.count)
        })

    /// A change of the queue as a frame of the journal holds it; its sum was right.
    static let queueEdit = FuzzTarget(
        name: "queue-edit",
        seeds: {
            var metadata = MediaMetadata()
            metadata.title = "T"
            let details = ItemDetails(given: metadata, duration: 9)
            let edits: [QueueEdit] = [
                .insert([QueueEntry(id: ItemID(3), source: .file("/m/a.flac"))], at: 1),
                .remove([ItemID(3), ItemID(9)]),
                .move([ItemID(4)], to: 2), .clear, .order([ItemID(2), ItemID(1)]), .details(ItemID(3), details),
            ]
            return edits.map { EditCoding.encode($0) }
        },
        run: { bytes in
            if let edit = try? bytes.withUnsafeBytes({ try EditCoding.decode($0) }) {
                let written = EditCoding.encode(edit)
                let again = try? written.withUnsafeBytes { try EditCoding.decode($0) }
                precondition(again.map { EditCoding.encode($0) } == written, "what was written is not what was read")
            }
            if let settings = try? bytes.withUnsafeBytes({ try CommandSettings($0) }) {
                let written = settings.encoded()
                _ = try? written.withUnsafeBytes { try CommandSettings($0) }
            }
        })

    /// A saved place whose sum is right.
    static let position = FuzzTarget(
        name: "place",
        seeds: {
            [
                #"{"wish":"playing","item":7,"elapsed":12.5,"play":1,"rate":1.5,"volume":0.5,"muted":false,"repeatMode":"all"}"#,
                #"{"elapsed":1e308,"item":-1,"loudness":"album","preamp":-6,"shuffleMode":"collections"}"#,
            ].map { Array($0.utf8) }
        },
        run: { json in
            var writer = ByteWriter()
            writer.fixed(UInt32(0x3153_504e))
            writer.fixed(UInt32(json.count))
            writer.fixed(UInt64(9))
            writer.fixed(json.withUnsafeBytes { Checksum.of($0, seed: 9) })
            writer.append(json)
            guard let (position, number) = writer.bytes.withUnsafeBytes({ PositionSlot.decode($0) }) else { return }
            precondition(number == 9)
            // A number is written with nine decimals, so the comparison uses the reread number.
            guard let bytes = PositionSlot.encode(position, number: 10) else { return }
            guard let (rounded, _) = bytes.withUnsafeBytes({ PositionSlot.decode($0) }) else {
                preconditionFailure("what was written can't be read")
            }
            let written = PositionSlot.encode(rounded, number: 11) ?? []
            let again = written.withUnsafeBytes { PositionSlot.decode($0) }
            precondition(again?.position == rounded && again?.number == 11, "what was written is not what was read")
        })

    /// Saved feedback about items, as it lies on the disk.
    static let feedback = FuzzTarget(
        name: "feedback-database",
        seeds: {
            let folder = TemporaryFolder()
            let database = FeedbackDatabase(stateDirectory: folder.path)
            for (number, name) in ["a", "b"].enumerated() {
                _ = try? database.change(name, at: "/\(name)") {
                    $0.rating = 3.5
                    $0.isLiked = true
                    $0.bookmark = 12.5
                    $0.playCount = number
                }
            }
            withExtendedLifetime(database) {}
            return [folder.read("feedback.db") + folder.read("feedback.db-wal")].filter { !$0.isEmpty }
                + [Array("bookmark a 12.5\nleft b 1e300\n".utf8)]
        },
        run: { bytes in
            let folder = TemporaryFolder()
            _ = folder.write(bytes, "feedback.db")
            _ = folder.write(bytes, "resume-places")
            let database = FeedbackDatabase(stateDirectory: folder.path)
            for name in ["a", "b", "c"] {
                guard let feedback = try? database.record(of: name).feedback else { continue }
                precondition((0...5).contains(feedback.rating ?? 0))
                precondition((0...1e9).contains(feedback.bookmark ?? 0) && (0...1e9).contains(feedback.left ?? 0))
                precondition(feedback.playCount >= 0 && feedback.skipCount >= 0)
                precondition((feedback.lastPlayed ?? 0).isFinite)
            }
            precondition((0...1e9).contains(database.positions.position(at: "u") { "a" }?.seconds ?? 0))
            // Later opinions are kept after any bytes.
            _ = try? database.changes(since: .beginning, limit: 10)
            let liked = try? database.change("a", at: nil) {
                $0 = Feedback()
                $0.isLiked = true
            }
            guard let liked else { return }
            precondition((try? database.record(of: "a")) == liked.record, "what was said is forgotten")
        })

    /// Messages of the confined child: the first byte says which body the rest is.
    static let childMessage = FuzzTarget(
        name: "child-message",
        seeds: {
            var request = OpenRequest()
            request.address = "http://station/"
            request.wanted = WireFormat(sample: .int16, sampleRate: 44100, positions: [1, 2])
            let format = WireFormat(sample: .int16, sampleRate: 48000, positions: [1, 2])
            var blocks = LoudnessBlocks()
            for loudness in [-20, -20.5, -31, -12] { blocks.add(loudness) }
            return [
                [8] + WireLoudness(blocks: blocks, truePeak: 0.5, seconds: 3).bytes,
                [0] + WireMessage.failed.header(count: 12), [1] + request.bytes,
                [2] + WireSeek(number: 3, frame: 99).bytes,
                [3] + WireFailure(.lost, "gone").bytes, [4] + WireTag.bytes([WireTag("title", "T".utf8)]),
                [6] + PictureRequest(.fetch, request).bytes, [7] + WirePicture(kindNumber: 3, count: 9).bytes,
                [5] + OpenedMedia(format: format, codec: "AAC", sourceSampleRate: 48000).bytes,
            ]
        },
        run: { bytes in
            let body = bytes.dropFirst()
            switch bytes.first {
            case 0: _ = try? WireMessage.header(body)
            case 1: if let read = try? OpenRequest(body) { precondition((try? OpenRequest(read.bytes)) == read) }
            case 2: if let read = try? WireSeek(body) { precondition(read.bytes == Array(body)) }
            case 3: _ = try? WireFailure(body)
            case 6:
                if let read = try? PictureRequest(body) { precondition((try? PictureRequest(read.bytes)) == read) }
            case 7:
                if let read = try? WirePicture(body) { precondition(read.count <= WirePicture.maximumBytes) }
            case 4: if let read = try? WireTag.tags(body) { precondition(read.count <= WireTag.maximumCount) }
            case 5:
                if let read = try? OpenedMedia(body) {
                    precondition((read.length ?? 0) >= 0 && !(read.isLive && read.isSeekable))
                }
            case 8:
                if let read = try? WireLoudness(body) {
                    precondition(read.blocks.integrated?.isFinite ?? true)
                    precondition((try? WireLoudness(read.bytes))?.blocks.packed == read.blocks.packed)
                }
            default: break
            }
        })

    /// The stream of a station with titles in it, in two pieces: the first two bytes say how long the interval is and where
    /// it is cut.
    static let icyStream = FuzzTarget(
        name: "icy-stream",
        seeds: {
            let title = Array("StreamTitle='It's over';StreamUrl='http://x';".utf8)
            return [[4, 9] + [0, 0, 0, 0, 3] + title + [0, 0, 0], [1, 1, 0, 0, 0, 0]]
        },
        run: { bytes in
            guard bytes.count > 2, var filter = IcyFilter(interval: Int(bytes[0]) + 1) else { return }
            let stream = bytes.dropFirst(2)
            let cut = min(stream.count, Int(bytes[1]))
            var audio = 0
            for piece in [stream.prefix(cut), stream.dropFirst(cut)] {
                piece.withUnsafeBytes {
                    filter.take($0) {
                        audio += $0.count
                    } changed: { text in
                        precondition(text.count <= 255 * 16 && !text.isEmpty)
                        _ = StreamTitle(text)
                    }
                }
            }
            precondition(audio <= stream.count)
        })

    /// A server's answer that may be a list of addresses.
    static let links = FuzzTarget(
        name: "links",
        seeds: {
            [
                "#EXTM3U\n#EXTINF:-1,S\nhttp://h/a\n", "[playlist]\nFile1=http://h/b\nNumberOfEntries=1\n",
                "<playlist><trackList><track><location>http://h/&amp;</location></track></trackList></playlist>",
            ].map { Array($0.utf8) }
        },
        run: { bytes in
            _ = PlaylistLinks(bytes, isAnnounced: false)
            _ = PlaylistLinks(bytes, isAnnounced: true)
        })
}
