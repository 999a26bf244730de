import AudioCore
import CLinux
import Glibc
import LinuxSystem

/// Finds the audio files below a folder, in natural order. Runs on a worker thread; every call may block.
struct FolderWalk {
    /// Names with these endings are taken for audio inside folders.
    static let endings: Set<String> = [
        "flac", "wav", "wave", "rf64", "w64", "aif", "aiff", "aifc", "au", "snd", "caf",
    ]
    /// Folders inside each other, at most.
    private static let maximumDepth = 64

    /// Nil: the peer may name anything.
    let roots: MediaRoots?
    /// Files, at most.
    let limit: Int
    let abandoned: AbandonFlag
    private(set) var files: [FilePath] = []
    /// Whether there were more than `limit`.
    private(set) var isTooMany = false
    /// Each folder is walked once, or links to folders above would never end.
    private var seen: Set<Identity> = []

    private struct Identity: Hashable {
        let device: UInt64
        let inode: UInt64
    }

    init(roots: MediaRoots?, limit: Int, abandoned: AbandonFlag) {
        self.roots = roots
        self.limit = limit
        self.abandoned = abandoned
    }

    /// Adds what is below the folder at `path`. What can't be read inside is left out.
    mutating func walk(_ path: FilePath, depth: Int = 0) {
        guard depth < Self.maximumDepth, let descriptor = openFolder(path) else { return }
        var status = stat()
        guard fstat(descriptor, &status) == 0,
            seen.insert(Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))).inserted,
            let folder = fdopendir(descriptor)
        else {
            close(descriptor)
            return
        }
        var names: [(name: FilePath, isFolder: Bool)] = []
        while let entry = readdir(folder), !abandoned.isSet {
            guard let name = Self.name(entry), name.bytes.first != UInt8(ascii: ".") else { continue }
            switch kind(Int32(entry.pointee.d_type), path, name) {
            case .folder: names.append((name, true))
            case .file where Self.isAudio(name): names.append((name, false))
            case .file, .other: break
            }
        }
        closedir(folder)
        names.sort { NaturalOrder.precedes($0.name.bytes, $1.name.bytes) }
        for (name, isFolder) in names where !isTooMany && !abandoned.isSet {
            if isFolder {
                walk(path.appending(name), depth: depth + 1)
            } else if files.count < limit {
                files.append(path.appending(name))
            } else {
                isTooMany = true
            }
        }
    }

    private func openFolder(_ path: FilePath) -> Int32? {
        guard let roots else {
            let opened = path.withCString { linux_open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0) }
            return opened >= 0 ? opened : nil
        }
        guard let place = roots.place(of: path) else { return nil }
        let found = place.locate()
        guard found >= 0 else { return nil }
        defer { close(found) }
        // What was judged is what is read, whatever stands at the name by now.
        let opened = linux_openat(found, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        return opened >= 0 ? opened : nil
    }

    private enum Kind { case file, folder, other }

    private func kind(_ type: Int32, _ folder: FilePath, _ name: FilePath) -> Kind {
        switch type {
        case Int32(DT_REG): return .file
        case Int32(DT_DIR): return .folder
        case Int32(DT_LNK), Int32(DT_UNKNOWN): break
        default: return .other
        }
        var status = stat()
        let path = folder.appending(name)
        if let roots {
            guard let place = roots.place(of: path) else { return .other }
            let found = place.locate()
            guard found >= 0 else { return .other }
            defer { close(found) }
            guard fstat(found, &status) == 0 else { return .other }
        } else {
            guard path.withCString({ stat($0, &status) }) == 0 else { return .other }
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file
        case S_IFDIR: return .folder
        default: return .other
        }
    }

    private static func name(_ entry: UnsafeMutablePointer<dirent>) -> FilePath? {
        withUnsafeBytes(of: &entry.pointee.d_name) { bytes in FilePath(bytes.prefix { $0 != 0 }) }
    }

    static func isAudio(_ name: FilePath) -> Bool {
        guard let dot = name.bytes.lastIndex(of: UInt8(ascii: ".")) else { return false }
        return endings.contains(String(decoding: name.bytes[(dot + 1)...], as: UTF8.self).lowercased())
    }
}
