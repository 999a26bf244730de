/// Visible folders of a reader that does not show all.
struct VisibleFolders {
    /// Their paths, each with all paths below it.
    let roots: [[UInt8]]
    /// Numbers of the folders.
    let ids: IdSet
    /// The condition that a track is in one of them.
    let filter: CompiledFilter

    /// True if the folder is one of `roots` or below one.
    static func shows(_ folder: [UInt8], _ roots: [[UInt8]]?) -> Bool {
        guard let roots else { return true }
        return roots.contains { $0.isEmpty || folder == $0 || isBelow(folder, $0) }
    }

    /// True if one of the roots is below the folder.
    func isAbove(_ folder: [UInt8]) -> Bool {
        roots.contains { !$0.isEmpty && (folder.isEmpty || Self.isBelow($0, folder)) }
    }

    private static func isBelow(_ folder: [UInt8], _ root: [UInt8]) -> Bool {
        folder.count > root.count && folder[root.count] == UInt8(ascii: "/") && folder.starts(with: root)
    }
}
