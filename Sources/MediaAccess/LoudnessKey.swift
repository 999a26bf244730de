package import Glibc
import LinuxSystem

/// Key of a regular file in the table of loudness: a hash of its size, its time of change and its inode. It has neither
/// the path nor the device, so that a link and a bind mount lead to the same key.
package struct LoudnessKey: Hashable, Sendable {
    /// The hash; never 0.
    let number: UInt64

    /// The key of a file with this size in bytes, this time of change in nanoseconds since 1970, and this inode.
    package init(size: Int64, modified: Int64, inode: Int64) {
        let words = [size, modified, inode].map { UInt64(bitPattern: $0) }
        number = max(1, LoudnessSum.of(words[0], words[1], words[2]))
    }

    /// The key of a file by its status; nil: it is not a regular file.
    package init?(_ status: stat) {
        guard status.st_mode & S_IFMT == S_IFREG else { return nil }
        self.init(
            size: Int64(status.st_size), modified: status.st_mtim.nanoseconds,
            inode: Int64(bitPattern: UInt64(status.st_ino)))
    }
}

/// Sums of words, for keys and checks.
enum LoudnessSum {
    /// A sum in which every bit depends on every bit of the words and on their order.
    static func of(_ words: UInt64...) -> UInt64 {
        words.reduce(0) { sum, word in
            // The finalizer of SplitMix64.
            var mixed = (sum ^ word) &+ 0x9e37_79b9_7f4a_7c15
            mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
            return mixed ^ mixed >> 31
        }
    }
}
