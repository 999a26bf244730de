import CLinux
import Glibc
import LinuxSystem
import Synchronization
import TrackDatabase

/// Computes the identities of files that have none, with the priority that is left over, on one thread.
enum IdentityPass {
    private static let batch = 128

    /// Computes them until none is left, or the scan is to end. True: none is left. Blocks.
    static func run(_ context: ScanContext) -> Bool {
        linux_lower_priority(0)
        context.progress.enter(.identify, total: nil)
        do throws(TrackDatabaseError) {
            let reader = try context.database.reader()
            var last: Int64 = 0
            while case let ids = try reader.unidentifiedTracks(after: last, limit: batch), let highest = ids.last {
                var identities: [(id: Int64, identity: Int64)] = []
                for id in ids {
                    if context.abandoned.isSet { return false }
                    guard let place = try reader.path(of: id), let path = path(of: place, context.roots),
                        let identity = TrackIdentity.of(path)
                    else { continue }
                    identities.append((id, identity))
                }
                try context.writer.write { [identities] batch throws(TrackDatabaseError) in
                    for entry in identities { try batch.setIdentity(entry.identity, of: entry.id) }
                }
                context.progress.add(.done, ids.count)
                last = highest
            }
            while !context.abandoned.isSet {
                let isDone = Mutex(false)
                // Other changes come between the parts of this work.
                try context.writer.wait { writer throws(TrackDatabaseError) in
                    let isLast = try !writer.tidy()
                    isDone.withLock { $0 = isLast }
                }
                if isDone.withLock({ $0 }) { return true }
            }
            return false
        } catch {
            Log.warning("the library can't keep identities: \(error.message)")
            return true
        }
    }

    private static func path(of place: TrackPath, _ roots: [RootNames.Root]) -> FilePath? {
        let slash = UInt8(ascii: "/")
        let folder = place.folder
        let end = folder.firstIndex(of: slash) ?? folder.count
        guard let root = roots.first(where: { $0.name.elementsEqual(folder[..<end]) }) else { return nil }
        let relative = folder[end...].drop { $0 == slash } + (end < folder.count ? [slash] : []) + place.name
        return FilePath(Array(relative)).map { root.path.appending($0) }
    }
}
