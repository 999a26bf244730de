import Foundation

/// Inputs that stay: what fuzzing found to reach further, and each input that ever broke something, as `crash-…`.
enum FuzzCorpus {
    /// The folder with a folder for each target.
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpus")

    /// Bytes of an input that is kept, at most, as Scripts/fuzz has it.
    static let longest = 16_384
    /// What an input takes at most, as Scripts/fuzz has it, where it counts as a finding.
    static let patience = Duration.seconds(20)

    /// The inputs of a target.
    static func inputs(of target: String) -> [[UInt8]] {
        let path = folder.appending(path: target).path()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.sorted().compactMap { FileManager.default.contents(atPath: path + "/" + $0).map(Array.init) }
    }
}
