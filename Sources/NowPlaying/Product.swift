/// Name and release of the daemon and its tools.
package enum Product {
    /// The daemon's name in the answer to `hello`.
    package static let name = "nowplayingd"
    /// The release; CHANGELOG.md describes it.
    package static let version = "0.2.0"
}
