import CLinux
import Glibc
import LinuxSystem
import TrackDatabase

/// A folder of the library that is open for a scan.
final class ScanRoot: Sendable {
    /// Its index among the folders of the library.
    let index: Int
    let name: [UInt8]
    let path: FilePath
    /// Reason why its disk is not watched; nil: it is.
    let unwatchable: String?
    /// Its path without links; nil: unknown.
    let realPath: FilePath?
    private let descriptor: OwnedDescriptor
    /// Device number of its disk.
    let device: UInt64
    /// Its inode number.
    let inode: UInt64

    /// RESOLVE_NO_SYMLINKS of openat2(2).
    private static let withoutLinks: UInt64 = 0x04

    /// Opens the folder at a path. Throws the error of the open.
    init(_ root: RootNames.Root, index: Int) throws(SystemError) {
        let opened = root.path.withCString { linux_open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0) }
        guard opened >= 0 else { throw SystemError("open \(root.path.text)") }
        descriptor = OwnedDescriptor(opened)
        var status = stat()
        guard fstat(opened, &status) == 0 else { throw SystemError("look at \(root.path.text)") }
        (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
        unwatchable = Self.networks[linux_file_system(opened)]
        realPath = Self.realPath(opened)
        (name, path, self.index) = (root.name, root.path, index)
    }

    /// File systems whose changes may come from other machines, by their magic numbers in statfs(2).
    private static let networks: [UInt32: String] = [
        0x6969: "NFS", 0x517B: "SMB", 0xFF53_4D42: "SMB", 0xFE53_4D42: "SMB", 0x6573_5546: "FUSE", 0x0102_1997: "9P",
        0x00C3_6400: "Ceph", 0x5346_414F: "AFS", 0x7375_7245: "Coda", 0x786F_4256: "a folder of the host",
    ].mapValues { "its file system (\($0)) may change without notice" }

    private static func realPath(_ descriptor: Int32) -> FilePath? {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            let count = readlink("/proc/self/fd/\(descriptor)", buffer.baseAddress!, buffer.count)
            guard count > 0, count < buffer.count else { return nil }
            return FilePath(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    /// Lists the folder as a test: it returns when the disk answers.
    func look() {
        let line = DiskCalls().line()
        _ = try? FolderListing(descriptor.number, line, index)
    }

    /// True if the path still leads to this folder.
    var isInPlace: Bool {
        var status = stat()
        return path.withCString { stat($0, &status) } == 0 && UInt64(status.st_dev) == device
            && UInt64(status.st_ino) == inode
    }

    /// Opens a file or folder below it, without following links on the path; the descriptor is the caller's. Negative:
    /// the number of the error.
    func open(_ relative: [UInt8], _ flags: Int32) -> Int32 {
        guard let path = FilePath(relative.isEmpty ? [UInt8(ascii: ".")] : relative) else { return -ENOENT }
        let opened = path.withCString {
            linux_openat2(
                descriptor.number, $0, UInt64(flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK),
                UInt64(LINUX_RESOLVE_BENEATH) | Self.withoutLinks)
        }
        return opened >= 0 ? opened : -errno
    }

    /// The error of an open of a path below it; 0: it opens.
    func failure(_ relative: [UInt8], _ flags: Int32) -> Int32 {
        let opened = open(relative, flags)
        guard opened >= 0 else { return -opened }
        close(opened)
        return 0
    }

    /// The place in the library of a path below it.
    func place(_ relative: [UInt8]) -> [UInt8] { relative.isEmpty ? name : name + [UInt8(ascii: "/")] + relative }

    /// The absolute path of a path below it.
    func path(_ relative: [UInt8]) -> FilePath { path.appending(FilePath(relative) ?? "") }
}

extension TrackFile {
    /// A file from the attributes of stat(2).
    init(_ status: stat) {
        self.init(
            size: Int64(status.st_size), modified: status.st_mtim.nanoseconds,
            inode: Int64(bitPattern: UInt64(status.st_ino)))
    }
}
