import AudioCore
import LinuxSystem

/// Reads the facts of files, for lists and for the library.
package enum FactsReading {
    /// Facts of this file, by the decoders that this program has. Blocks on reading.
    package static func read(_ file: MediaFile) -> FactsAnswer {
        do throws(DecodingError) {
            return .found(FileFacts(of: try DecoderRegistry.openDecoder(for: file)))
        } catch {
            return error.kind == .notRecognised && DecoderRegistry.mayBeForeign(file) ? .isForeign : .refused(error)
        }
    }

    /// Facts of this file by nowplaying-decode, with all the priority that is left over. Blocks. `patience`: seconds without
    /// a word of it.
    package static func readForeign(_ file: MediaFile, patience: Double) -> FactsChild.Outcome {
        guard DecodeProgram.path != nil else { return .refused(DecodingError(.notRecognised, DecodeProgram.howToGet)) }
        do throws(DecodingError) {
            let decoder = try ChildDecoder(file: file.descriptor, patience: patience)
            if let process = decoder.process { ChildProcess.lowerPriority(of: process) }
            do throws(DecodingError) { try decoder.awaitOpening() } catch {
                guard error == decoder.hung, let process = decoder.process else { throw error }
                let isBusy = ChildProcess.processorTime(of: process) > busyTime
                return isBusy ? .lost : .hung
            }
            return .found(FileFacts(of: decoder))
        } catch { return .refused(error) }
    }

    /// Nanoseconds of the processor after which a process that has said nothing did not wait for a disk.
    private static let busyTime: Int64 = 1_000_000_000
}

extension DecoderRegistry {
    /// True for a file of a kind that nowplaying-decode may read although no decoder of this program does.
    fileprivate static func mayBeForeign(_ file: MediaFile) -> Bool {
        guard let tags = try? LeadingTags(in: file),
            let first = try? file.bytes(at: tags.end, count: MediaKind.neededBytes)
        else { return false }
        switch MediaKind(firstBytes: first, afterTag: tags.end > 0) {
        case .needsChild, .ogg, .samples: return true
        case .flac, .mpegAudio, .unsupported, .text, .unknown: return false
        }
    }
}
