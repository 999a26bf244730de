import Glibc
import LibraryRuntime
import LinuxSystem
import TestSupport
import TrackDatabase

/// A folder of music with a database and a scanner of it.
@PlayerLoop final class ScannedFolder {
    nonisolated let place = TemporaryFolder()
    let database: TrackDatabase
    let reader: TrackReader
    let writer: LibraryWriter
    private(set) var scanner: Scanner
    private(set) var changes = 0
    private let program: String?

    /// Nothing is scanned yet. The music lies in `music`, and in further folders beside it.
    init(roots names: [String] = ["music"], program: String? = built) throws {
        LoopThread.start()
        let place = place
        let roots = names.map { name in
            RootNames.Root(
                path: FilePath(place.folder(name).utf8)!, name: Array((name.split(separator: "/").last ?? "").utf8))
        }
        database = try TrackDatabase(path: place.path("library.db"))
        reader = try database.reader()
        writer = LibraryWriter(EventLoop.current, try database.writer())
        self.program = program
        let box = Box()
        scanner = Scanner(
            EventLoop.current, database: database, writer: writer, roots: roots, settings: LibrarySettings(),
            program: program
        ) { box.owner?.changes += 1 }
        box.owner = self
    }

    isolated deinit { scanner.end() }

    @PlayerLoop private final class Box { weak var owner: ScannedFolder? }

    /// The program of this build that reads tags.
    nonisolated static let built: String? = {
        var buffer = [CChar](repeating: 0, count: 4096)
        for candidate in CommandLine.arguments + ["/proc/self/exe"] {
            let path = realpath(candidate, &buffer).map { String(cString: $0) } ?? candidate
            guard let range = path.firstRange(of: "/debug/") ?? path.firstRange(of: "/release/") else { continue }
            let program = path[..<range.upperBound] + "nowplaying-tags"
            if access(String(program), X_OK) == 0 { return String(program) }
        }
        return nil
    }()

    /// Writes a FLAC file with a title, and returns its path.
    @discardableResult
    nonisolated func track(_ name: String, title: String? = nil, frames: Int = 100, seed: UInt64 = 1) -> String {
        var options = FLACOptions()
        options.blocks = [
            AudioMaterial.vorbisComments(["TITLE=\(title ?? name)", "ARTIST=Ann", "ALBUM=Disc"].map { Array($0.utf8) })
        ]
        if let slash = name.lastIndex(of: "/") { place.folder("music/" + name[..<slash]) }
        return place.write(AudioMaterial.noise(frames: frames, seed: seed).flac(options), "music/" + name)
    }

    /// Scans all, and returns when the scanner rests.
    func scan() async {
        if scanner.report.lastScan == nil { scanner.begin() } else { scanner.update(nil) }
        await rest()
    }

    /// Returns when the scanner rests.
    func rest() async { while scanner.report.scan != nil { await LoopThread.turns(1) } }

    /// Returns when this holds.
    func until(_ condition: () throws -> Bool) async rethrows {
        while try !condition() { await LoopThread.turns(20) }
    }

    /// Numbers of the tracks that are there, by their places.
    func tracks() throws -> [String: Int64] {
        var found: [String: Int64] = [:]
        for id in try reader.scan.presentTracks(below: [], after: 0, limit: .max) + (try below()) {
            if let path = try reader.scan.path(of: id) { found[String(decoding: path.bytes, as: UTF8.self)] = id }
        }
        return found
    }

    private func below() throws -> [Int64] {
        try reader.scan.folders(in: []).flatMap { try reader.scan.presentTracks(below: $0, after: 0, limit: .max) }
    }

    /// The track at a place.
    func track(at path: String) throws -> StoredTrack? { try reader.track(at: TrackPath(path)) }
}
