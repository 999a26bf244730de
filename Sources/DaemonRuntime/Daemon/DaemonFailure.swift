/// Reason why the daemon can't start, in words for people.
package struct DaemonFailure: Error, Equatable, Sendable {
    package let message: String

    /// A failure with these words.
    package init(_ message: String) { self.message = message }
}
