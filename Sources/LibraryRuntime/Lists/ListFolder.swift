import AudioDecoders
import CLinux
import ControlProtocol
import Glibc
package import LinuxSystem
import Synchronization

/// The folder with the files of the saved lists: `NAME.m3u8` for items, `NAME.filter` for a filter. Worker threads use
/// it one at a time; each call may block. Every change is complete on the disk before its answer.
package final class ListFolder: Sendable {
    private let folder: FilePath
    private let turn = Mutex(())

    /// Most lists in the folder.
    package static let maximumLists = 10_000
    /// Longest file in bytes.
    private static let maximumBytes = 64 << 20

    /// Lists in this folder, which need not exist yet.
    package init(_ folder: FilePath) { self.folder = folder }

    // MARK: Reading

    /// All lists in the order of the bytes of their names. Throws `system`.
    package func summaries() throws(ListFailure) -> [ListSummary] {
        guard let stream = folder.withCString({ opendir($0) }) else {
            if errno == ENOENT { return [] }
            throw .system(SystemError("open \(folder.text)"))
        }
        defer { closedir(stream) }
        var result: [ListSummary] = []
        while let entry = Glibc.readdir(stream), result.count < Self.maximumLists {
            let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            guard let (name, kind) = Self.list(ofFile: bytes), let status = Self.status(path(name, kind)) else {
                continue
            }
            result.append(
                ListSummary(
                    name: name, kind: kind, version: Self.version(status),
                    modified: Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1e9))
        }
        return result.sorted { $0.name.text.utf8.lexicographicallyPrecedes($1.name.text.utf8) }
    }

    /// The list of this name. `known`: its items at a version, which are not read again. Throws `missing`, `unreadable` and
    /// `system`.
    package func list(
        _ name: ListName, known: (_ version: Int64) -> [ListItem]? = { _ in nil }
    ) throws(ListFailure) -> SavedList {
        for kind in SavedList.Kind.allCases {
            let path = path(name, kind)
            if kind == .items, let status = Self.status(path), let items = known(Self.version(status)) {
                return SavedList(name: name, contents: .items(items), version: Self.version(status))
            }
            guard let (bytes, version) = try contents(of: path) else { continue }
            return SavedList(name: name, contents: try contents(bytes, kind, name), version: version)
        }
        throw .missing(name.text)
    }

    private func contents(
        _ bytes: [UInt8], _ kind: SavedList.Kind, _ name: ListName
    ) throws(ListFailure) -> SavedList.Contents {
        switch kind {
        case .items:
            do throws(PlaylistError) {
                return .items(try ListText.items(bytes, in: folder))
            } catch {
                throw .unreadable(name.text, error.message)
            }
        case .filter:
            do throws(JSONError) {
                return .filter(try JSONReader.read(bytes))
            } catch {
                throw .unreadable(name.text, "it is no filter in JSON")
            }
        }
    }

    /// Number of the items of a list; nil: it is a saved filter. Throws `missing` and `system`.
    package func count(_ name: ListName) throws(ListFailure) -> Int? {
        for kind in SavedList.Kind.allCases {
            guard let (bytes, _) = try contents(of: path(name, kind)) else { continue }
            return kind == .filter ? nil : ListText.count(bytes)
        }
        throw .missing(name.text)
    }

    // MARK: Changes

    /// Saves contents under this name and replaces earlier ones. `ifVersion`: only if the list still has this version;
    /// 0: only if there is none. Returns the new version. Throws `version`, `tooMany`, `tooLong` and `system`.
    @discardableResult
    package func save(
        _ contents: SavedList.Contents, as name: ListName, ifVersion: Int64? = nil
    ) throws(ListFailure) -> Int64 {
        try inTurn { () throws(ListFailure) in try write(contents, name, ifVersion) }
    }

    /// Applies the edits, all or none. Returns the new version. Throws the errors of `ListEdit.apply`, and `missing`,
    /// `isFilter`, `version` and `system`.
    package func edit(
        _ name: ListName, _ edits: [ListEdit], ifVersion: Int64? = nil
    ) throws(ListFailure) -> Int64 {
        try inTurn { () throws(ListFailure) in
            let list = try list(name)
            guard case .items(let items) = list.contents else { throw .isFilter(name.text) }
            // Another program may have written the file since a client read it.
            return try write(.items(try ListEdit.apply(edits, to: items)), name, ifVersion ?? list.version)
        }
    }

    /// Adds items at the end of a list, or saves them as a new list. An unreadable list stays unchanged. Returns the
    /// new version. Throws the errors of `edit` except `missing`, and `tooMany`.
    package func append(
        _ items: [ListItem], to name: ListName, ifVersion: Int64? = nil
    ) throws(ListFailure) -> Int64 {
        try inTurn { () throws(ListFailure) in
            let list: SavedList
            do throws(ListFailure) { list = try self.list(name) } catch {
                guard case .missing = error else { throw error }
                return try write(.items(items), name, ifVersion ?? 0)
            }
            guard case .items(let old) = list.contents else { throw .isFilter(name.text) }
            let all = try ListEdit.apply([.insert(items, at: nil)], to: old)
            return try write(.items(all), name, ifVersion ?? list.version)
        }
    }

    /// Renames a list. Throws `missing`, `exists` and `system`.
    package func rename(_ name: ListName, to other: ListName) throws(ListFailure) {
        try inTurn { () throws(ListFailure) in
            let summary = try summary(of: name)
            guard name != other else { return }
            guard existing(other) == nil else { throw .exists(other.text) }
            let (old, new) = (path(name, summary.kind), path(other, summary.kind))
            // Unlike rename(2), link(2) replaces no file. A crash between both calls leaves the list under both names.
            guard link(old, new) == 0, unlink(old) == 0 else {
                throw errno == EEXIST ? .exists(other.text) : .system(SystemError("rename \(old)"))
            }
            syncFolder()
        }
    }

    /// Deletes a list. Throws `missing`, `version` and `system`.
    package func delete(_ name: ListName, ifVersion: Int64? = nil) throws(ListFailure) {
        try inTurn { () throws(ListFailure) in
            let summary = try summary(of: name)
            guard ifVersion ?? summary.version == summary.version else { throw .version(summary.version) }
            let path = path(name, summary.kind)
            guard unlink(path) == 0 else { throw .system(SystemError("delete \(path)")) }
            syncFolder()
        }
    }

    private func inTurn<Result: Sendable>(
        _ body: () throws(ListFailure) -> Result
    ) throws(ListFailure) -> Result {
        try turn.withLock { _ throws(ListFailure) in try body() }
    }

    private func write(
        _ contents: SavedList.Contents, _ name: ListName, _ ifVersion: Int64?
    ) throws(ListFailure) -> Int64 {
        let present = existing(name)
        guard ifVersion == nil || ifVersion == present?.version ?? 0 else { throw .version(present?.version ?? 0) }
        if present == nil, try summaries().count >= Self.maximumLists { throw .tooMany(limit: Self.maximumLists) }
        let bytes: [UInt8]
        switch contents {
        case .items(let items):
            guard items.count <= ListEdit.maximumItems else { throw .tooLong(limit: ListEdit.maximumItems) }
            bytes = ListText.bytes(items)
        case .filter(let filter): bytes = Array((JSONWriter.text(filter) + "\n").utf8)
        }
        let target = path(name, contents.kind)
        try replace(target, bytes)
        // A list of the other kind loses this name.
        if let present, present.kind != contents.kind { unlink(path(name, present.kind)) }
        syncFolder()
        return existing(name)?.version ?? 0
    }

    private func replace(_ target: String, _ bytes: [UInt8]) throws(ListFailure) {
        if folder.withCString({ mkdir($0, 0o700) }) != 0, errno != EEXIST {
            throw .system(SystemError("make the folder \(folder.text)"))
        }
        let fresh = folder.text + "/.saving"
        let file = FreshFile.make(fresh)
        guard file >= 0 else { throw .system(SystemError("make \(fresh)")) }
        var done = 0
        var fault: SystemError?
        while done < bytes.count, fault == nil {
            let count = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress! + done, $0.count - done) }
            if count > 0 { done += count } else if errno != EINTR { fault = SystemError("write \(fresh)") }
        }
        // The kernel's own times are too coarse to distinguish two changes of one moment.
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        if fault == nil, futimens(file, [now, now]) != 0 { fault = SystemError("write \(fresh)") }
        if fault == nil, fsync(file) != 0 { fault = SystemError("write \(fresh)") }
        close(file)
        if fault == nil, Glibc.rename(fresh, target) != 0 { fault = SystemError("rename \(fresh)") }
        guard let fault else { return }
        unlink(fresh)
        throw .system(fault)
    }

    private func syncFolder() {
        let descriptor = folder.withCString { linux_open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0) }
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    // MARK: Files

    private func path(_ name: ListName, _ kind: SavedList.Kind) -> String {
        "\(folder.text)/\(name.text).\(kind.rawValue)"
    }

    private func existing(_ name: ListName) -> (kind: SavedList.Kind, version: Int64)? {
        for kind in SavedList.Kind.allCases {
            if let status = Self.status(path(name, kind)) { return (kind, Self.version(status)) }
        }
        return nil
    }

    private func summary(of name: ListName) throws(ListFailure) -> (kind: SavedList.Kind, version: Int64) {
        guard let found = existing(name) else { throw .missing(name.text) }
        return found
    }

    /// Bytes and version of a file; nil: it does not exist.
    private func contents(of path: String) throws(ListFailure) -> (bytes: [UInt8], version: Int64)? {
        let file = linux_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw .system(SystemError("open \(path)"))
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        guard status.st_size <= Self.maximumBytes else {
            throw .system(SystemError("read \(path)", code: EFBIG))
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress! + done, $0.count - done) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system(SystemError("read \(path)")) }
            if count == 0 { break }
            done += count
        }
        bytes.removeLast(bytes.count - done)
        return (bytes, Self.version(status))
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return status
    }

    /// Name and kind of a list by the name of its file; nil: the file is no list.
    private static func list(ofFile bytes: [UInt8]) -> (ListName, SavedList.Kind)? {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        for kind in SavedList.Kind.allCases where text.hasSuffix("." + kind.rawValue) {
            let stem = String(text.dropLast(kind.rawValue.count + 1))
            if let name = try? ListName(stem) { return (name, kind) }
        }
        return nil
    }

    /// A positive number below 2^53 that differs after each change: a hash of inode, length and time of change in ns.
    private static func version(_ status: stat) -> Int64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for part in [
            UInt64(status.st_ino), UInt64(bitPattern: Int64(status.st_size)),
            UInt64(bitPattern: Int64(status.st_mtim.tv_sec)), UInt64(bitPattern: Int64(status.st_mtim.tv_nsec)),
        ] {
            hash = (hash ^ part) &* 0x100_0000_01b3
            hash ^= hash >> 29
        }
        return Int64(hash >> 11) | 1
    }
}
