/// Limits of the lines of a connection.
package struct LineLimits: Equatable, Sendable {
    /// Maximum bytes of a line, with its line end.
    package let line: Int
    /// Maximum bytes of a command list.
    package let list: Int
    /// Maximum lines of a command list.
    package let listLines: Int

    /// Limits of a connection with a right. The first two are MPD's.
    package static let known = LineLimits(line: 16 << 10, list: 2 << 20, listLines: 64 << 10)
    /// Limits of a connection without any right: enough for a password, and for a list that begins with one.
    package static let stranger = LineLimits(line: 4 << 10, list: 4 << 10, listLines: 64)
}
