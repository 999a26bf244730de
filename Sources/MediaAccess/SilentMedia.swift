package import LinuxSystem

/// Media that hang or are away, by their folders: none of their files is opened until they may have returned. A pure
/// value.
package struct SilentMedia: Sendable {
    /// A folder to skip.
    private struct Place {
        let folder: FilePath
        /// True if the folder is a mount point that is mounted; nil: it is not a mount point, so any change of the
        /// mounts may bring it back.
        var isMounted: Bool?
    }

    /// Maximum number of folders; the oldest makes room for a new one.
    private static let limit = 64
    private var places: [Place] = []

    /// No media.
    package init() {}

    /// True if no medium is skipped.
    package var isEmpty: Bool { places.isEmpty }

    /// True if the file is on a skipped medium.
    package func has(_ file: FilePath?) -> Bool {
        guard let file = file?.normalized else { return false }
        return places.contains { file.below($0.folder) != nil }
    }

    /// Skips the medium of a file from now on: its file system, by the mounts and the text of the path. For a file of
    /// the root file system the medium is its folder, because a symbolic link may lead that elsewhere.
    package mutating func add(_ file: FilePath, _ mounts: MountTable?) {
        let file = file.normalized
        let point = mounts?.point(above: file).flatMap { $0.bytes.count > 1 ? $0 : nil }
        guard !has(file) else { return }
        places.append(Place(folder: point ?? file.folder, isMounted: point == nil ? nil : true))
        if places.count > Self.limit { places.removeFirst() }
    }

    /// Ends the skipping of a file's medium, which answers again. True: it was skipped.
    package mutating func answered(_ file: FilePath) -> Bool {
        let (file, count) = (file.normalized, places.count)
        places.removeAll { file.below($0.folder) != nil }
        return places.count < count
    }

    /// Applies changed mounts. True: a medium may have returned.
    package mutating func mountsChanged(_ mounts: MountTable) -> Bool {
        let count = places.count
        places = places.compactMap { place in
            guard let wasMounted = place.isMounted else { return nil }
            let isMounted = mounts.points.contains(place.folder)
            return isMounted && !wasMounted ? nil : Place(folder: place.folder, isMounted: isMounted)
        }
        return places.count < count
    }
}
