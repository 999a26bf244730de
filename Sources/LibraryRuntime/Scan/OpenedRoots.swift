import LinuxSystem

/// The open folders of the library during a scan.
struct OpenedRoots {
    /// The folders by their indices; nil: the folder is missing.
    let roots: [ScanRoot?]
    /// Their modes, by the same indices.
    let modes: [ScanReport.Mode]

    private static let unwatched = "the system gives no watches"

    /// Opens them by calls of this line. `walked`: reasons of earlier scans why folders cannot be watched. Throws if
    /// the scan is abandoned.
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
