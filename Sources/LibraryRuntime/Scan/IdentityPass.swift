import CLinux
import Glibc
import LinuxSystem
import Synchronization
import TrackDatabase

/// Computes the missing identities of files at the lowest priority, on one thread.
enum IdentityPass {
    /// Result of a pass.
    enum Outcome: Sendable {
        case complete
        /// It ended early.
        case interrupted
        case failed(TrackDatabaseError)
    }

    private static let batch = 128

    /// Computes identities until none is missing, or the work is abandoned. Blocks.
    static func run(_ context: ScanContext) -> Outcome {
        linux_lower_priority(0)
        do throws(TrackDatabaseError) {
            let reader = try context.database.reader()
            context.progress.enter(.identify, total: Int(clamping: try reader.scan.unidentifiedCount()))
            var last: Int64 = 0
            let line = context.calls.line()
            while case let ids = try reader.scan.unidentifiedTracks(after: last, limit: batch), let highest = ids.last {
                var identities: [(id: Int64, identity: Int64)] = []
                for id in ids {
                    if context.abandoned.isSet { break }
                    guard let place = try reader.scan.path(of: id), let (root, path) = path(of: place, context),
                        let identity = line.call(root, { TrackIdentity.of(path) })
                    else { continue }
                    identities.append((id, identity))
                }
                try context.writer.write { [identities] batch throws(TrackDatabaseError) in
                    for entry in identities { try batch.setIdentity(entry.identity, of: entry.id) }
                }
                if context.abandoned.isSet { return .interrupted }
                context.progress.add(.done, ids.count)
                last = highest
            }
            return try tidy(context) ? .complete : .interrupted
        } catch {
            return context.abandoned.isSet ? .interrupted : .failed(error)
        }
    }

    /// Optimises the search index after many changes. False: the work was abandoned.
    private static func tidy(_ context: ScanContext) throws(TrackDatabaseError) -> Bool {
        let abandoned = context.abandoned
        while !abandoned.isSet {
            let isDone = Mutex(false)
            // Other changes may run between the parts of this work.
            try context.writer.wait { writer throws(TrackDatabaseError) in
                let isLast = try !writer.tidy()
                isDone.withLock { $0 = isLast }
            }
            guard isDone.withLock({ $0 }) else { continue }
            try context.writer.wait { writer throws(TrackDatabaseError) in
                try writer.optimizeIfLarge { !abandoned.isSet }
            }
            return true
        }
        return false
    }

    /// The file of a track, and the index of its root; nil: the root is missing.
    private static func path(of place: TrackPath, _ context: ScanContext) -> (root: Int, path: FilePath)? {
        let slash = UInt8(ascii: "/")
        let folder = place.folder
        let end = folder.firstIndex(of: slash) ?? folder.count
        guard let root = context.roots.firstIndex(where: { $0.name.elementsEqual(folder[..<end]) }),
            !context.silent.contains(root)
        else { return nil }
        let relative = folder[end...].drop { $0 == slash } + (end < folder.count ? [slash] : []) + place.name
        return FilePath(Array(relative)).map { (root, context.roots[root].path.appending($0)) }
    }
}
