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

    /// Facts of this file by nowplaying-decode at the lowest priority. Blocks. `patience`: limit in seconds of the child's
    /// processor time, and limit in seconds for a silent disk. `program` replaces nowplaying-decode.
    package static func readForeign(
        _ file: MediaFile, patience: Double, program: String? = DecodeProgram.path
    ) -> FactsChild.Outcome {
        guard program != nil else { return .refused(DecodingError(.notRecognised, DecodeProgram.howToGet)) }
        do throws(DecodingError) {
            let decoder = try ChildDecoder(file: file.descriptor, program: program)
            guard let process = decoder.process else { return .lost }
            ChildProcess.lowerPriority(of: process)
            var limit = FactsLimit(of: process, patience: patience)
            while try !decoder.isOpened() {
                if decoder.wait(seconds: FactsLimit.slice) { continue }
                switch limit.check() {
                case .mayAnswer: break
                case .hangs: return .hung
                case .isLost: return .lost
                }
            }
            return .found(FileFacts(of: decoder))
        } catch { return .refused(error) }
    }
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
