import AudioCore
package import LinuxSystem
import MediaAccess

/// Numbers of the content of files in the database of the library.
package enum TrackIdentity {
    /// The number of an identity in the daemon's feedback (`ContentIdentity`).
    package static func number(_ identity: String) -> Int64 {
        // FNV-1a: the identity is a digest already.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in identity.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return Int64(bitPattern: hash)
    }

    /// The number of the file at a path; nil: it can't be read now. Reads 48 KiB; never on the loop.
    package static func of(_ path: FilePath) -> Int64? {
        ContentIdentity.of(.file(path)).map(number)
    }
}
