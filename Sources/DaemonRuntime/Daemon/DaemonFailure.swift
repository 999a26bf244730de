/// Reason why the daemon can't start, in words for people.
package struct DaemonFailure: Error, Equatable, Sendable {
    package let message: String
    /// True if the configuration cannot work: another attempt would fail, too.
    let isOfConfiguration: Bool

    /// A failure with these words.
    package init(_ message: String, isOfConfiguration: Bool = false) {
        self.message = message
        self.isOfConfiguration = isOfConfiguration
    }
}
