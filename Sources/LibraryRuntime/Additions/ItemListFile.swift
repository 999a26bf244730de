import CLinux
import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import TrackDatabase

/// A list of items for `queue.add`: JSON lines in a memory file, which is sealed at its end. On a worker thread.
final class ItemListFile {
    /// Items so far.
    private(set) var count = 0
    /// Failure of the file; later items are not written.
    private(set) var failure: RPCError?

    private let file: OwnedDescriptor
    private var writer = JSONWriter()
    private var written = 0

    /// Bytes of one write.
    private static let pieceBytes = 256 << 10
    /// Bytes of a list that the daemon accepts, at most.
    private static let mostBytes = 256 << 20
    /// Bytes of a text that the daemon accepts, at most.
    private static let textBytes = 4096
    /// Largest track number that the daemon accepts.
    private static let mostTracks: Int64 = 1_000_000

    /// An empty list. Throws if the system refuses memory.
    init() throws(RPCError) {
        let descriptor = linux_sealable_file("nowplaying-library-list")
        guard descriptor >= 0 else { throw Self.refused(SystemError("make a list in memory")) }
        file = OwnedDescriptor(descriptor)
    }

    /// Adds a track with its metadata.
    func add(_ track: StoredTrack, uri: String) {
        let record = track.record
        begin(uri)
        text("title", record.tags[.title])
        text("artist", record.tags[.artist])
        if let artists = record.tags[.artist], artists.count > 1 {
            writer.key("artists")
            writer.beginArray()
            for artist in artists.prefix(64) { writer.string(Self.cut(artist)) }
            writer.endArray()
        }
        text("albumTitle", record.tags[.album])
        text("albumArtist", record.tags[.albumArtist])
        number("trackNumber", record.numbers.trackNumber)
        number("discNumber", record.numbers.discNumber)
        end(record.duration)
    }

    /// Adds an item without a track in the library.
    func add(uri: String, title: String?, duration: Double?) {
        begin(uri)
        text("title", title.map { [$0] })
        end(duration)
    }

    /// The list, sealed against changes. Throws the failure of the file.
    func sealed() throws(RPCError) -> OwnedDescriptor {
        write()
        if let failure { throw failure }
        guard linux_seal(file.number) == 0 else { throw Self.refused(SystemError("seal a list in memory")) }
        return file
    }

    private func begin(_ uri: String) {
        writer.beginObject()
        writer.member("uri", uri)
    }

    private func end(_ duration: Double?) {
        if let duration, duration > 0, duration <= TimeLimit.seconds { writer.member("duration", duration) }
        writer.endObject()
        writer.newline()
        count += 1
        if writer.bytes.count >= Self.pieceBytes { write() }
    }

    private func text(_ name: StaticString, _ texts: [String]?) {
        guard let texts, !texts.isEmpty else { return }
        writer.member(name, Self.cut(texts.count == 1 ? texts[0] : texts.joined(separator: ", ")))
    }

    private func number(_ name: StaticString, _ value: Int64?) {
        guard let value, (0...Self.mostTracks).contains(value) else { return }
        writer.member(name, Int(value))
    }

    /// A text of bounded length, cut between characters.
    private static func cut(_ text: String) -> String {
        guard text.utf8.count > textBytes else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            guard result.utf8.count + UTF8.width(scalar) <= textBytes else { break }
            result.unicodeScalars.append(scalar)
        }
        return result
    }

    private func write() {
        let bytes = writer.bytes
        writer = JSONWriter()
        guard failure == nil else { return }
        guard written + bytes.count <= Self.mostBytes else {
            failure = .commandFailed(
                .tooLarge, "the items take more than \(Self.mostBytes >> 20) MiB: add fewer at once")
            return
        }
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.write(file.number, $0.baseAddress! + done, $0.count - done) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                failure = Self.refused(SystemError("write a list into memory"))
                return
            }
            done += count
        }
        written += bytes.count
    }

    private static func refused(_ error: SystemError) -> RPCError { .commandFailed(.unavailable, error.message) }
}

extension UTF8 {
    /// Bytes of a character.
    fileprivate static func width(_ scalar: Unicode.Scalar) -> Int {
        scalar.value < 0x80 ? 1 : scalar.value < 0x800 ? 2 : scalar.value < 0x10000 ? 3 : 4
    }
}
