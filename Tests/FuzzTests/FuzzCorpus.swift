import Foundation
import Glibc

/// Permanent inputs: inputs that reached new code in fuzzing, and each input that ever failed, as `crash-…`.
enum FuzzCorpus {
    /// The folder with a folder for each target.
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpus")

    /// Bytes of an input that is kept, at most, as Scripts/fuzz has it.
    static let longest = 16_384
    /// Maximum time for an input, as in Scripts/fuzz; more counts as a finding.
    static let patience = Duration.seconds(20)
    /// KiB of memory that the process may have had, at most, as Scripts/fuzz has it.
    static let memory = 2048 << 10

    /// KiB of memory that the process had at most, up to now.
    static var peak: Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss
    }

    /// The inputs of a target.
    static func inputs(of target: String) -> [[UInt8]] {
        let path = folder.appending(path: target).path()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.sorted().compactMap { FileManager.default.contents(atPath: path + "/" + $0).map(Array.init) }
    }
}
