import Glibc
import LinuxSystem
import MediaAccess

/// The names in one folder that a scan uses, in the order of their bytes, without names that begin with a dot.
struct FolderListing {
    /// Kinds of entries.
    enum Kind: UInt8 {
        case folder, file, link
    }

    /// One entry.
    struct Entry {
        fileprivate let offset: UInt32
        fileprivate let length: UInt16
        let kind: Kind
    }

    private(set) var entries: [Entry] = []
    /// Names of playlists.
    private(set) var lists: [[UInt8]] = []
    /// All names, each with a zero at its end.
    private var names: [UInt8] = []

    /// Lists the open folder `descriptor`, which stays the caller's, by calls of this line into the disk of a root.
    /// Throws if the list would be incomplete.
    init(_ descriptor: Int32, _ line: DiskCalls.Line, _ root: Int, isSorted: Bool = true) throws(SystemError) {
        let copy = line.call(root) { openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard copy >= 0, let folder = fdopendir(copy) else {
            if copy >= 0 { close(copy) }
            throw SystemError("list a folder")
        }
        defer { closedir(folder) }
        while true {
            errno = 0
            guard let entry = line.call(root, { readdir(folder) }) else {
                guard errno == 0 else { throw SystemError("list a folder") }
                break
            }
            var type = Int32(entry.pointee.d_type)
            withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                let length = strlen(bytes.baseAddress!.assumingMemoryBound(to: CChar.self))
                let name = UnsafeRawBufferPointer(rebasing: bytes[..<length])
                guard name.first != UInt8(ascii: ".") else { return }
                if type == Int32(DT_UNKNOWN) { type = line.call(root) { Self.type(name, descriptor) } }
                add(name, type)
            }
        }
        if isSorted { sort() }
    }

    private mutating func add(_ name: UnsafeRawBufferPointer, _ type: Int32) {
        guard names.count + name.count < Int(UInt32.max) else { return }
        let kind: Kind
        switch type {
        case Int32(DT_DIR): kind = .folder
        case Int32(DT_LNK): kind = .link
        case Int32(DT_REG):
            guard PlayableSuffixes.present.matches(name) else {
                if FoundList.isList(Array(name.suffix(8))) { lists.append(Array(name)) }
                return
            }
            kind = .file
        default: return
        }
        entries.append(Entry(offset: UInt32(names.count), length: UInt16(name.count), kind: kind))
        names.append(contentsOf: name)
        names.append(0)
    }

    private static func type(_ name: UnsafeRawBufferPointer, _ folder: Int32) -> Int32 {
        var status = stat()
        let path = name.baseAddress!.assumingMemoryBound(to: CChar.self)
        guard fstatat(folder, path, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return Int32(DT_UNKNOWN) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return Int32(DT_REG)
        case S_IFDIR: return Int32(DT_DIR)
        case S_IFLNK: return Int32(DT_LNK)
        default: return Int32(DT_UNKNOWN)
        }
    }

    private mutating func sort() {
        names.withUnsafeBufferPointer { names in
            guard let base = names.baseAddress else { return }
            // A zero ends each name, and no name contains one.
            entries.sort { strcmp(Self.pointer(base, $0), Self.pointer(base, $1)) < 0 }
        }
    }

    private static func pointer(_ base: UnsafePointer<UInt8>, _ entry: Entry) -> UnsafePointer<CChar> {
        UnsafeRawPointer(base + Int(entry.offset)).assumingMemoryBound(to: CChar.self)
    }

    /// The name of an entry.
    func name(_ entry: Entry) -> [UInt8] {
        Array(names[Int(entry.offset)..<Int(entry.offset) + Int(entry.length)])
    }

    /// Below 0: the entry sorts before the name.
    func compare(_ entry: Entry, _ name: [UInt8]) -> Int {
        names.withUnsafeBytes { names in
            name.withUnsafeBytes { name in
                let length = min(Int(entry.length), name.count)
                let order = length == 0 ? 0 : memcmp(names.baseAddress! + Int(entry.offset), name.baseAddress!, length)
                return order != 0 ? Int(order) : Int(entry.length) - name.count
            }
        }
    }

    /// Calls `body` with the name of an entry as a C string.
    func withCString<Result>(_ entry: Entry, _ body: (UnsafePointer<CChar>) -> Result) -> Result {
        names.withUnsafeBufferPointer { body(Self.pointer($0.baseAddress!, entry)) }
    }
}
