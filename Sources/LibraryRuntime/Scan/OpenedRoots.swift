import LinuxSystem

/// The folders of the library as a scan opens them.
struct OpenedRoots {
    /// The folders by their places; nil: one is away.
    let roots: [ScanRoot?]
    /// Their modes, by the same places.
    let modes: [ScanReport.Mode]

    private static let unwatched = "the system gives no watches"

    /// Opens them by calls of this line. `walked`: reasons for which earlier scans have found that some can't be watched. Throws
    /// when the scan is abandoned.
    init(
        _ context: ScanContext, _ line: DiskCalls.Line, _ state: StateFolders, walked: [Int: String]
    ) throws(ScanFailure) {
        var roots: [ScanRoot?] = []
        var modes: [ScanReport.Mode] = []
        for (index, root) in context.roots.enumerated() {
            guard !context.silent.contains(index) else {
                roots.append(nil)
                modes.append(.missing(reason: SilentRoots.reason))
                continue
            }
            do throws(SystemError) {
                let found = try line.call(index) { () throws(SystemError) in try ScanRoot(root, index: index) }
                roots.append(found)
                let reason =
                    found.unwatchable ?? state.reason(found.device, found.inode) ?? walked[index]
                    ?? (context.watch == nil ? Self.unwatched : nil)
                modes.append(reason.map { .walked(reason: $0) } ?? .watched)
            } catch {
                roots.append(nil)
                modes.append(.missing(reason: SystemError.words(error.code)))
            }
            if context.abandoned.isSet { throw .abandoned }
        }
        self.roots = roots
        self.modes = modes
    }
}
