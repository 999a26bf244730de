import Foundation
import TestSupport
import Testing

/// Files that do harm: those that fuzzing has kept, changed at random.
enum HostileFiles {
    /// Kinds of the corpus with the ends that such files have.
    private static let kinds = [
        ("flac", "flac"), ("wave", "wav"), ("mp3", "mp3"), ("vorbis", "ogg"), ("ogg-flac", "oga"), ("opus", "opus"),
        ("image", "mp3"), ("film", "m4a"), ("claims", "ape"), ("playlist", "wma"),
    ]

    /// Writes so many files into a folder of the folder of a test, the same for the same seed. Returns their places.
    static func write(_ count: Int, seed: UInt64, to folder: TemporaryFolder, _ name: String) throws -> [String] {
        let corpus = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "FuzzTests/Corpus").path()
        var inputs: [(bytes: [UInt8], end: String)] = []
        for (kind, end) in kinds {
            for file in try FileManager.default.contentsOfDirectory(atPath: "\(corpus)/\(kind)").sorted() {
                let bytes = FileManager.default.contents(atPath: "\(corpus)/\(kind)/\(file)") ?? Data()
                inputs.append((Array(bytes), end))
            }
        }
        try #require(inputs.count > 100)
        var numbers = SeededRandom(seed: seed)
        return (0..<count).map { number in
            var (bytes, end) = inputs[Int.random(in: 0..<inputs.count, using: &numbers)]
            mutate(&bytes, inputs[Int.random(in: 0..<inputs.count, using: &numbers)].bytes, &numbers)
            if Int.random(in: 0..<8, using: &numbers) == 0 {
                end = kinds[Int.random(in: 0..<kinds.count, using: &numbers)].1
            }
            let place = "\(name)/\(number % 40)/\(number).\(end)"
            folder.folder("\(name)/\(number % 40)")
            _ = folder.write(bytes, place)
            return place
        }
    }

    private static func mutate(_ bytes: inout [UInt8], _ other: [UInt8], _ numbers: inout SeededRandom) {
        for _ in 0..<Int.random(in: 0..<6, using: &numbers) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &numbers)
            switch Int.random(in: 0..<6, using: &numbers) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &numbers)
            case 1: bytes[place] = [0, 0x7F, 0x80, 0xFF][Int.random(in: 0..<4, using: &numbers)]
            case 2: bytes.removeSubrange(place...)
            case 3: bytes.insert(contentsOf: other.prefix(4096), at: place)
            case 4: bytes.removeSubrange(place..<min(bytes.count, place + 16))
            default:
                for offset in place..<min(bytes.count, place + 4) { bytes[offset] = 0xFF }
            }
        }
    }
}
