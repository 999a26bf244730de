import LinuxSystem
import TrackDatabase

/// Tracks whose files are gone or are there again, which a scan brings into the database at its end: only then it is known
/// where a file went that is gone.
struct ScanSettlement {
    private var found: [Int64] = []
    private var gone: [Int64] = []
    private var trees: [[UInt8]] = []
    private var roots: Set<[UInt8]> = []
    private static let batch = 1000

    /// Nothing to settle.
    init() {}

    /// The file of a track is there as it was.
    mutating func addFound(_ file: ScanReader.KnownFile) { if file.isMissing { found.append(file.track) } }

    /// The file of a track is not there.
    mutating func addGone(_ file: ScanReader.KnownFile) { if !file.isMissing { gone.append(file.track) } }

    /// A folder is not there.
    mutating func addTree(_ folder: [UInt8]) { trees.append(folder) }

    /// A folder of the library is not there. It may return with its faults.
    mutating func addRoot(_ name: [UInt8]) {
        trees.append(name)
        roots.insert(name)
    }

    /// Folders of the database that are in the library no longer.
    mutating func addForeign(_ reader: TrackReader, names: [[UInt8]]) throws(ScanFailure) {
        let known = try ScanFailure.wrap { () throws(TrackDatabaseError) in try reader.scan.folders(in: []) }
        trees += known.filter { !names.contains($0) }
    }

    /// Writes all of it. Blocks.
    mutating func settle(
        _ context: ScanContext, _ reader: TrackReader
    ) throws(ScanFailure) {
        for tree in trees {
            let ids = try ScanFailure.wrap { () throws(TrackDatabaseError) in
                try reader.scan.presentTracks(below: tree, after: 0, limit: .max)
            }
            gone += ids
            if !roots.contains(tree),
                try ScanFailure.wrap({ () throws(TrackDatabaseError) in try reader.faultCount() }) > 0
            {
                try write(context) { batch throws(TrackDatabaseError) in try batch.clearFaults(below: tree) }
            }
            if try ScanFailure.wrap({ () throws(TrackDatabaseError) in try reader.hasLists() }) {
                try write(context) { batch throws(TrackDatabaseError) in try batch.forgetLists(below: tree) }
            }
        }
        for start in stride(from: 0, to: found.count, by: Self.batch) {
            let ids = Array(found[start..<min(found.count, start + Self.batch)])
            try write(context) { batch throws(TrackDatabaseError) in try batch.setMissing(false, ids: ids) }
        }
        guard !gone.isEmpty else { return }
        let arrivals = try ScanFailure.wrap { () throws(TrackDatabaseError) in try Arrivals(reader) }
        // Of several tracks that a file was, the oldest one has what users gave it.
        gone.sort()
        // A new track may be gone again.
        var claimed = Set(gone)
        let sightings = try ScanFailure.wrap { () throws(TrackDatabaseError) in
            try Self.sightings(gone.filter(arrivals.contains), gone, reader)
        }
        for start in stride(from: 0, to: gone.count, by: Self.batch) {
            if context.abandoned.isSet { throw .abandoned }
            let ids = Array(gone[start..<min(gone.count, start + Self.batch)])
            let moves = try ScanFailure.wrap { () throws(TrackDatabaseError) in
                try Self.moves(ids.filter { !sightings.contains($0) }, reader, arrivals, &claimed)
            }
            let again = ids.filter(sightings.contains)
            try write(context) { batch throws(TrackDatabaseError) in
                for move in moves { try batch.move(move.id, to: move.record) }
                try batch.remove(ids: again)
                let done = Set(moves.map(\.id) + again)
                try batch.setMissing(true, ids: ids.filter { !done.contains($0) })
            }
            context.progress.add(.moved, moves.count)
            context.progress.add(.added, -moves.count - again.count)
            context.progress.add(.missing, ids.count - moves.count - again.count)
        }
    }

    private func write(
        _ context: ScanContext, _ change: @escaping LibraryWriter.Change
    ) throws(ScanFailure) {
        context.pace.wait()
        let pace = context.pace
        try ScanFailure.wrap { () throws(TrackDatabaseError) in
            _ = try context.writer.wait { writer throws(TrackDatabaseError) in
                var meter = ThreadMeter()
                defer { pace.spend(meter.take()) }
                try writer.batch { batch throws(TrackDatabaseError) in try change(batch) }
            }
        }
    }

    /// Of new tracks that are gone again, those whose file is gone at an older track, too: a scan that was killed saw the file
    /// at one more place on its way. Left as missing, they would be taken for the file when it moves the next time.
    private static func sightings(
        _ arrivals: [Int64], _ gone: [Int64], _ reader: TrackReader
    ) throws(TrackDatabaseError) -> Set<Int64> {
        guard !arrivals.isEmpty else { return [] }
        var places: [TrackFile: [Int64]] = [:]
        for start in stride(from: 0, to: arrivals.count, by: batch) {
            for track in try reader.tracks(Array(arrivals[start..<min(arrivals.count, start + batch)])) {
                places[track.record.file, default: []].append(track.id)
            }
        }
        var found: Set<Int64> = []
        for start in stride(from: 0, to: gone.count, by: batch) {
            for track in try reader.tracks(Array(gone[start..<min(gone.count, start + batch)])) {
                found.formUnion(places[track.record.file, default: []].filter { $0 > track.id })
            }
        }
        return found
    }

    /// New tracks that these are, which are gone from their places.
    private static func moves(
        _ ids: [Int64], _ reader: TrackReader, _ arrivals: Arrivals, _ claimed: inout Set<Int64>
    ) throws(TrackDatabaseError) -> [(id: Int64, record: TrackRecord)] {
        guard !arrivals.isEmpty else { return [] }
        var moves: [(id: Int64, record: TrackRecord)] = []
        for old in try reader.tracks(ids) {
            for id in arrivals.ids(size: old.record.file.size) where id != old.id && !claimed.contains(id) {
                guard let new = try reader.track(id), !new.isMissing, MoveFinder.isSame(old.record, new.record) else {
                    continue
                }
                claimed.insert(id)
                var record = new.record
                record.identity = record.identity ?? old.record.identity
                moves.append((old.id, record))
                break
            }
        }
        return moves
    }
}
