import Glibc

/// Texts of the system.
package enum SystemText {
    /// Text for an `errno`.
    package static func error(_ code: Int32) -> String {
        strerror(code).map { String(cString: $0) } ?? "error \(code)"
    }
}
