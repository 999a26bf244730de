/// What the daemon and its tools are called and which release they are.
package enum Product {
    /// The daemon's name, as `hello` answers it.
    package static let name = "nowplayingd"
    /// The release; `CHANGELOG.md` tells what is in it.
    package static let version = "0.1.0"
}
