import CLinux
import Glibc

/// A folder for the files of one test, gone with its last reference.
package final class TemporaryFolder: Sendable {
    /// Absolute path.
    package let path: String

    /// Makes an empty folder. `isInMemory`: on a file system in memory, for thousands of writes that wait for the disk.
    package convenience init(isInMemory: Bool = false) { self.init(in: isInMemory ? "/dev/shm" : "/tmp") }

    /// Makes an empty folder in another one.
    package init(in place: String) {
        var template = Array("\(place)/nowplaying-test-XXXXXX".utf8CString)
        precondition(mkdtemp(&template) != nil, "no temporary folder")
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { _ = AudioMaterial.run("rm", ["-rf", path]) }

    /// Makes a file (and the folders above it), and returns its path.
    @discardableResult package func file(_ name: String, _ contents: String = "x") -> String {
        if let slash = name.lastIndex(of: "/") { folder(String(name[..<slash])) }
        return write(Array(contents.utf8), name)
    }

    /// Makes a folder and those above it, and returns its path.
    @discardableResult package func folder(_ name: String) -> String {
        var path = path
        for part in name.split(separator: "/") {
            path += "/" + part
            mkdir(path, 0o755)
        }
        return path
    }

    /// Path of a file in it.
    package func path(_ name: String) -> String { "\(path)/\(name)" }

    /// The content of a file in it; empty if there is none.
    package func read(_ name: String) -> [UInt8] {
        let descriptor = linux_open(path(name), O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var result: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = Glibc.read(descriptor, &buffer, buffer.count), count > 0 { result += buffer[..<count] }
        return result
    }

    /// Writes a file and returns its path.
    package func write(_ bytes: [UInt8], _ name: String) -> String {
        let descriptor = linux_open(path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        precondition(descriptor >= 0, "can't write \(name)")
        defer { close(descriptor) }
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            precondition(count > 0, "can't write \(name)")
            done += count
        }
        return path(name)
    }
}

extension AudioMaterial {
    /// Runs a program of the search path to its end and returns its exit status; its output is dropped.
    package static func run(_ program: String, _ arguments: [String]) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in 0...2 as ClosedRange<Int32> {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) }
        words.append(nil)
        defer { for word in words { free(word) } }
        var process = pid_t()
        guard posix_spawnp(&process, program, &actions, nil, words, environ) == 0 else { return 127 }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }
}
