package import LinuxSystem

/// Media that hang or are away, by their folders: nothing of them is looked at until they may have returned. A pure value.
package struct SilentMedia: Sendable {
    /// A folder that is left alone.
    private struct Place {
        let folder: FilePath
        /// True if the folder is a mount point; nil: it is none, so any change of the mounts may bring it back.
        var isMounted: Bool?
    }

    /// Folders that are remembered; the oldest is forgotten for another.
    private static let limit = 64
    private var places: [Place] = []

    /// None.
    package init() {}

    /// True if all media are looked at.
    package var isEmpty: Bool { places.isEmpty }

    /// True if the file is on a medium that is left alone.
    package func has(_ file: FilePath?) -> Bool {
        guard let file = file?.normalized else { return false }
        return places.contains { file.below($0.folder) != nil }
    }

    /// Leaves the medium of a file alone: the file system that it is on, by the mounts and the text of its path. For a file
    /// of the root file system, which a symbolic link may lead elsewhere, that is its folder.
    package mutating func add(_ file: FilePath, _ mounts: MountTable?) {
        let file = file.normalized
        let point = mounts?.point(above: file).flatMap { $0.bytes.count > 1 ? $0 : nil }
        guard !has(file) else { return }
        places.append(Place(folder: point ?? file.folder, isMounted: point == nil ? nil : true))
        if places.count > Self.limit { places.removeFirst() }
    }

    /// The medium of a file answers. True: it was left alone.
    package mutating func answered(_ file: FilePath) -> Bool {
        let (file, count) = (file.normalized, places.count)
        places.removeAll { file.below($0.folder) != nil }
        return places.count < count
    }

    /// The mounts have changed. True: a medium may have returned.
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
