import AudioCore
private import CSndFile

extension SampleContainer {
    /// The container of this SF_FORMAT_TYPEMASK value; nil: this decoder does not read it.
    init?(_ type: Int) {
        switch type {
        case SF_FORMAT_WAV, SF_FORMAT_WAVEX, SF_FORMAT_RF64, SF_FORMAT_W64: self = .wave
        case SF_FORMAT_AIFF: self = .aiff
        case SF_FORMAT_AU: self = .au
        case SF_FORMAT_CAF: self = .coreAudio
        default: return nil
        }
    }
}

extension SampleCoding {
    /// The coding of this SF_FORMAT_SUBMASK value; nil: this decoder does not read it (libsndfile 1.2.0 reads MP3,
    /// Vorbis and Opus wrongly, and cannot seek exactly in G.721, G.723 and GSM).
    init?(_ subtype: Int) {
        switch subtype {
        case SF_FORMAT_PCM_S8, SF_FORMAT_PCM_U8: self = .integer(bits: 8)
        case SF_FORMAT_PCM_16: self = .integer(bits: 16)
        case SF_FORMAT_PCM_24: self = .integer(bits: 24)
        case SF_FORMAT_PCM_32: self = .integer(bits: 32)
        case SF_FORMAT_FLOAT: self = .float(bits: 32)
        case SF_FORMAT_DOUBLE: self = .float(bits: 64)
        case SF_FORMAT_ULAW: self = .companded("µ-law")
        case SF_FORMAT_ALAW: self = .companded("A-law")
        case SF_FORMAT_IMA_ADPCM: self = .companded("IMA ADPCM")
        case SF_FORMAT_MS_ADPCM: self = .companded("MS ADPCM")
        default: return nil
        }
    }
}

extension SndFileHandle {
    /// The loudspeaker of this SF_CHANNEL_MAP value; nil: none.
    static func position(_ value: Int) -> ChannelPosition? {
        switch value {
        case SF_CHANNEL_MAP_MONO: .mono
        case SF_CHANNEL_MAP_LEFT, SF_CHANNEL_MAP_FRONT_LEFT: .frontLeft
        case SF_CHANNEL_MAP_RIGHT, SF_CHANNEL_MAP_FRONT_RIGHT: .frontRight
        case SF_CHANNEL_MAP_CENTER, SF_CHANNEL_MAP_FRONT_CENTER: .frontCenter
        case SF_CHANNEL_MAP_REAR_CENTER: .rearCenter
        case SF_CHANNEL_MAP_REAR_LEFT: .rearLeft
        case SF_CHANNEL_MAP_REAR_RIGHT: .rearRight
        case SF_CHANNEL_MAP_LFE: .lowFrequency
        case SF_CHANNEL_MAP_FRONT_LEFT_OF_CENTER: .frontLeftOfCenter
        case SF_CHANNEL_MAP_FRONT_RIGHT_OF_CENTER: .frontRightOfCenter
        case SF_CHANNEL_MAP_SIDE_LEFT: .sideLeft
        case SF_CHANNEL_MAP_SIDE_RIGHT: .sideRight
        case SF_CHANNEL_MAP_TOP_CENTER: .topCenter
        case SF_CHANNEL_MAP_TOP_FRONT_LEFT: .topFrontLeft
        case SF_CHANNEL_MAP_TOP_FRONT_RIGHT: .topFrontRight
        case SF_CHANNEL_MAP_TOP_FRONT_CENTER: .topFrontCenter
        case SF_CHANNEL_MAP_TOP_REAR_LEFT: .topRearLeft
        case SF_CHANNEL_MAP_TOP_REAR_RIGHT: .topRearRight
        case SF_CHANNEL_MAP_TOP_REAR_CENTER: .topRearCenter
        default: nil
        }
    }
}
