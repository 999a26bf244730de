import ControlProtocol
import Glibc
import LinuxSystem
import TestLibraries
import TestSupport
import Testing
import TrackDatabase

/// A library of generated tracks in a database, without their files, and the program that serves it.
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
        // A disk that is away: a scan changes nothing of what is known.
        tracks = try Self.fill(RealLibrary.state(folder) + "/tracks.db", count, changed)
        library = await RealLibrary.start(in: folder, settings.replacing("$", with: music))
        client = try library.connect()
    }

    private static func fill(
        _ path: String, _ count: Int, _ changed: (inout TrackRecord, Int) -> Void
    ) throws -> [TrackRecord] {
        var generator = LibraryGenerator(seed: 5, tracks: count, artists: max(1, count / 40))
        var tracks: [TrackRecord] = []
        while var record = generator.next() {
            changed(&record, tracks.count)
            tracks.append(record)
        }
        let writer = try TrackDatabase(path: path).writer()
        let records = tracks
        try writer.batch { batch throws(TrackDatabaseError) in
            for (index, record) in records.enumerated() { try batch.put(record, added: Double(1_700_000_000 + index)) }
        }
        return tracks
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
