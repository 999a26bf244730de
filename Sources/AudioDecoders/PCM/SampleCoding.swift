import AudioCore

/// Coding of a container's samples, as far as we decode it.
enum SampleCoding: Equatable {
    /// Whole numbers of this many bits.
    case integer(bits: Int)
    /// IEEE 754 of this many bits.
    case float(bits: Int)
    /// One of the telephone codings or simple ADPCM, by name; decodes to at most 16 bits.
    case companded(String)

    /// The format that holds the samples without loss. 64 bit floats do lose precision: no sound server takes them.
    var sampleFormat: SampleFormat {
        switch self {
        case .integer(let bits): .integer(bits: bits)
        case .float: .float32
        case .companded: .int16
        }
    }

    /// The coding's name for people.
    var name: String {
        switch self {
        case .integer: "PCM"
        case .float: "PCM (float)"
        case .companded(let name): name
        }
    }

    /// Bits of a sample in the file; nil where the coding has none.
    var bitsPerSample: Int? {
        switch self {
        case .integer(let bits), .float(let bits): bits
        case .companded: nil
        }
    }
}

/// Containers that libsndfile recognises.
enum SampleContainer { case wave, aiff, au, coreAudio }
