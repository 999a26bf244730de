import Glibc

/// A folder for one test, removed with it.
package final class TestFolder: Sendable {
    /// Its path.
    package let path: String

    /// A new folder below the folder for temporary files.
    package init() {
        var template = Array("\(getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp")/tracks-XXXXXX".utf8CString)
        path = template.withUnsafeMutableBufferPointer {
            mkdtemp($0.baseAddress!).map { String(cString: $0) } ?? "/tmp"
        }
    }

    /// The path of a file in it.
    package func file(_ name: String) -> String { "\(path)/\(name)" }

    deinit {
        guard path != "/tmp", let folder = opendir(path) else { return }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            unlink("\(path)/\(name)")
        }
        closedir(folder)
        rmdir(path)
    }
}
