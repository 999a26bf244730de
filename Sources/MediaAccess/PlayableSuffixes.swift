/// Suffixes of names that count as audio inside folders.
package struct PlayableSuffixes: Sendable {
    /// Each suffix as a number: its lower-case letters, one per byte.
    private let keys: Set<UInt64>

    /// Suffixes that this system plays.
    package static let present = PlayableSuffixes(FolderWalk.endings)

    /// Suffixes of formats whose tags the library reads. `nowplaying-decode` plays more formats.
    package static let described = PlayableSuffixes(FolderWalk.described)

    private init(_ endings: Set<String>) {
        keys = Set(endings.map { $0.utf8.reduce(0) { $0 << 8 | UInt64($1) } })
    }

    /// The same test for an array.
    package func matches(_ name: [UInt8]) -> Bool { name.withUnsafeBytes { matches($0) } }

    /// True if a name has one of these suffixes.
    package func matches(_ name: UnsafeRawBufferPointer) -> Bool {
        var key: UInt64 = 0
        var place: UInt64 = 0
        for byte in name.reversed() {
            if byte == UInt8(ascii: ".") { return keys.contains(key) }
            guard place < 64 else { return false }
            let isCapital = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            key |= UInt64(isCapital ? byte | 0x20 : byte) << place
            place += 8
        }
        return false
    }
}
