import ControlProtocol
import Glibc
import LinuxSystem
import TestLibraries
import TestSupport
import Testing
import TrackDatabase

@testable import LibraryRuntime

/// A library of generated tracks in a database, with empty files, and the program that serves it.
final class LibraryHouse {
    let library: RealLibrary
    let client: RawClient
    /// All tracks, in the order in which they came.
    let tracks: [TrackRecord]
    /// The folder of the library.
    let music: String

    /// A library of so many tracks below the folder `Music`. `settings` are put before those of the library; a `$` in them
    /// is the folder.
    init(
        tracks count: Int, settings: String = "[access]\nmedia-roots = $",
        changed: (inout TrackRecord, Int) -> Void = { _, _ in }
    ) async throws {
        let folder = TemporaryFolder()
        music = folder.path("Music")
        tracks = try Self.fill(RealLibrary.state(folder) + "/tracks.db", count, below: folder.path(""), changed)
        library = await RealLibrary.start(in: folder, settings.replacing("$", with: music))
        client = try library.connect()
    }

    private static func fill(
        _ path: String, _ count: Int, below folder: String, _ changed: (inout TrackRecord, Int) -> Void
    ) throws -> [TrackRecord] {
        var generator = LibraryGenerator(seed: 5, tracks: count, artists: max(1, count / 40))
        var tracks: [TrackRecord] = []
        while var record = generator.next() {
            changed(&record, tracks.count)
            record.file = try makeFile(folder, record)
            tracks.append(record)
        }
        let writer = try TrackDatabase(path: path).writer()
        let records = tracks
        try writer.batch { batch throws(TrackDatabaseError) in
            for (index, record) in records.enumerated() { try batch.put(record, added: Double(1_700_000_000 + index)) }
            // The tags of these tracks are in no file: no scan may read them again.
            try batch.setNumber(ReadingMark.present(charset: nil), for: ReadingMark.key(Array("Music".utf8)))
        }
        return tracks
    }

    /// Makes an empty file at its place in the library, with the time of change that the track has, if any. A scan finds it
    /// unchanged, and reads nothing.
    private static func makeFile(_ folder: String, _ track: TrackRecord) throws -> TrackFile {
        // By bytes: the name of a folder need not be text.
        var parent = Array(folder.utf8)
        for name in track.path.folder.split(separator: UInt8(ascii: "/")) {
            parent += [UInt8(ascii: "/")] + name
            let made = try #require(FilePath(parent)).withCString { mkdir($0, 0o700) }
            try #require(made == 0 || errno == EEXIST)
        }
        let path = try #require(FilePath(parent + [UInt8(ascii: "/")] + track.path.name))
        let descriptor = path.withCString { Glibc.open($0, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600) }
        try #require(descriptor >= 0, "\(path.text)")
        defer { close(descriptor) }
        if track.file.modified > 0 {
            let (seconds, rest) = track.file.modified.quotientAndRemainder(dividingBy: 1_000_000_000)
            let time = timespec(tv_sec: Int(seconds), tv_nsec: Int(rest))
            try #require(futimens(descriptor, [time, time]) == 0)
        }
        var status = stat()
        try #require(fstat(descriptor, &status) == 0)
        return TrackFile(
            size: Int64(status.st_size),
            modified: Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec),
            inode: Int64(bitPattern: UInt64(status.st_ino)))
    }

    /// All rows of a method with pages, and the bytes of its longest answer.
    func walk(_ method: String, _ parameters: JSONObject) throws -> (rows: [JSONValue], longest: Int) {
        var rows: [JSONValue] = []
        var longest = 0
        var parameters = parameters
        while true {
            try client.request(1, method, .object(parameters))
            let line = try client.readLine()
            longest = max(longest, line.utf8.count)
            let result = try #require(try JSONReader.read(line)["result"], "\(line.prefix(300))")
            rows += try #require(result["rows"]?.arrayValue)
            guard let next = result["next"] else { return (rows, longest) }
            parameters["after"] = next
        }
    }
}

extension TrackRecord {
    /// Its place in the library as rows show it.
    var shownPath: String { String(decoding: path.bytes, as: UTF8.self) }
}
