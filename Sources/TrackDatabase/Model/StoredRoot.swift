/// A folder of the library under the name that it keeps.
package struct StoredRoot: Equatable, Sendable {
    /// In the bytes of its path, without a slash.
    package var name: [UInt8]
    /// Absolute, in bytes.
    package var path: [UInt8]

    /// A folder by its parts.
    package init(name: [UInt8], path: [UInt8]) {
        self.name = name
        self.path = path
    }
}
