import LinuxSystem
import TrackDatabase

/// Tracks whose files are missing or have returned. A scan writes them into the database at its end: only then it knows
/// the new place of a moved file.
struct ScanSettlement {
    private var found: [Int64] = []
    private var gone: [Int64] = []
    private var trees: [[UInt8]] = []
    private var roots: Set<[UInt8]> = []
    private static let batch = 1000

    /// No tracks.
    init() {}

    /// Notes that the file of a track exists unchanged.
    mutating func addFound(_ file: ScanReader.KnownFile) { if file.isMissing { found.append(file.track) } }

    /// Notes that the file of a track is missing.
    mutating func addGone(_ file: ScanReader.KnownFile) { if !file.isMissing { gone.append(file.track) } }

    /// Notes that a folder is missing.
    mutating func addTree(_ folder: [UInt8]) { trees.append(folder) }

    /// Notes that a folder of the library is missing. It may return with its faults.
    mutating func addRoot(_ name: [UInt8]) {
        trees.append(name)
        roots.insert(name)
    }

    /// Adds folders of the database that no longer belong to the library.
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
        // If a file matches several tracks, the oldest one has the feedback of users.
        gone.sort()
        // A new track may be missing again.
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

    /// Of new tracks that are missing again: those whose file is also missing at an older track. A killed scan found
    /// the file at an intermediate place. If they stayed as missing, the next move of the file would match them.
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

    /// New tracks that match these missing ones.
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
