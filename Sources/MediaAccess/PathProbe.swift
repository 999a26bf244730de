import CLinux
import Glibc
import LinuxSystem

/// Reads the modes of many paths in a row. Requests mostly name the files of one folder, so the folder is opened once.
struct PathProbe: ~Copyable {
    /// Folder of the last path, without the slash at its end.
    private var parent: [UInt8] = []
    /// Descriptor of that folder; negative: not open.
    private var descriptor: Int32 = -1
    /// The last path as a C string.
    private var text: [CChar] = []

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The mode of the file at an absolute path, with links followed; negative: minus the `errno` if it cannot be read.
    mutating func look(_ path: FilePath) -> Int64 {
        var text: [CChar] = []
        swap(&text, &self.text)
        text.removeAll(keepingCapacity: true)
        path.bytes.withUnsafeBytes { bytes in bytes.withMemoryRebound(to: CChar.self) { text.append(contentsOf: $0) } }
        text.append(0)
        defer { swap(&text, &self.text) }
        return text.withUnsafeBufferPointer { look($0.baseAddress!) }
    }

    private mutating func look(_ path: UnsafePointer<CChar>) -> Int64 {
        var status = stat()
        guard let slash = strrchr(path, Int32(UInt8(ascii: "/"))), slash[1] != 0, slash != path else {
            return stat(path, &status) == 0 ? judge(AT_FDCWD, path, status) : -Int64(errno)
        }
        enter(path, UnsafePointer(slash) - path)
        let folder = descriptor >= 0 ? descriptor : AT_FDCWD
        let name = descriptor >= 0 ? UnsafePointer(slash + 1) : path
        guard fstatat(folder, name, &status, 0) == 0 else { return -Int64(errno) }
        return judge(folder, name, status)
    }

    /// Checks read access, in most cases by the mode.
    private func judge(_ folder: Int32, _ name: UnsafePointer<CChar>, _ status: stat) -> Int64 {
        if status.st_mode & 0o444 != 0o444, faccessat(folder, name, R_OK, AT_EACCESS) != 0 { return -Int64(errno) }
        return Int64(status.st_mode)
    }

    /// Opens the folder of a path if the previous path has the same folder.
    private mutating func enter(_ path: UnsafePointer<CChar>, _ length: Int) {
        let isSame = parent.withUnsafeBytes {
            $0.count == length && length > 0 && memcmp($0.baseAddress!, path, length) == 0
        }
        if isSame {
            if descriptor == -1 {
                descriptor =
                    FilePath(parent)?.withCString { linux_open($0, LINUX_O_PATH | O_DIRECTORY | O_CLOEXEC, 0) } ?? -1
                // This folder is not tried again.
                if descriptor < 0 { descriptor = -2 }
            }
        } else {
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
            parent = Array(UnsafeRawBufferPointer(start: path, count: length))
        }
    }
}
