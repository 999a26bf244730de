import AudioCore
import LinuxSystem

/// Reads the facts of files, for lists and for the library.
package enum FactsReading {
    /// Facts of this file, by the decoders of this process. Blocks on reading.
    package static func read(_ file: MediaFile) -> FactsAnswer {
        do throws(DecodingError) {
            return .found(FileFacts(of: try DecoderRegistry.openDecoder(for: file)))
        } catch {
            return error.kind == .notRecognised && DecoderRegistry.mayBeForeign(file) ? .isForeign : .refused(error)
        }
    }

    /// Facts of this file by nowplaying-decode at low priority. Blocks. `patience`: seconds that the child may be
    /// silent.
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

    /// Nanoseconds of processor time that show that a silent process computes, and does not wait for a disk.
    private static let busyTime: Int64 = 1_000_000_000
}

extension DecoderRegistry {
    /// True if the file may be of a kind that nowplaying-decode reads and no decoder of this process does.
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
