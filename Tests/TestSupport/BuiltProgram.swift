import Glibc

/// The project's programs from the build of the tests, or from the folder `NOWPLAYING_PROGRAMS`.
package enum BuiltProgram {
    /// The path of a program, which must have been built.
    package static func path(_ name: String) -> String {
        guard let path = find(name) else { preconditionFailure("\(name) was not built beside the tests") }
        return path
    }

    /// The path of a program; nil: it was not built.
    package static func find(_ name: String) -> String? {
        if let folder = getenv("NOWPLAYING_PROGRAMS") { return String(cString: folder) + "/" + name }
        for candidate in [ownPath()] + CommandLine.arguments {
            let range = candidate.firstRange(of: "/debug/") ?? candidate.firstRange(of: "/release/")
            guard let range else { continue }
            let path = String(candidate[..<range.upperBound] + name)
            if access(path, X_OK) == 0 { return path }
        }
        return nil
    }

    private static func ownPath() -> String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
