import LinuxSystem

/// Missing roots. The nearest existing folder above each is watched for its return.
extension ScanWalk {
    /// The number of these folders for the watch; folders of the library have lower ones.
    static let away = Int32.max

    /// Watches for the return of the missing roots. Returns those that have returned already.
    func awaitReturns() -> [Int] {
        guard let watch = context.watch, memory.awaits || !memory.away.isEmpty else { return [] }
        watch.forget([Self.away])
        memory.noteAwaited()
        return memory.away.subtracting(context.silent).sorted().filter { index in
            let root = context.roots[index]
            var folder = root.path.folder
            while !folder.isEmpty {
                if line.call(index, { watch.watch(folder, as: Self.away, for: .arrivals) }) == .watched { break }
                folder = folder.folder
            }
            return line.call(index) { (try? ScanRoot(root, index: index)) != nil }
        }
    }
}
