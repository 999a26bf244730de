import AudioCore
import CPulse

extension AudioFormat {
    /// The format in libpulse's form.
    var pulseSampleSpec: pa_sample_spec {
        let form: pa_sample_format_t
        #if _endian(little)
            switch sampleFormat {
            case .int16: form = PA_SAMPLE_S16LE
            case .int24: form = PA_SAMPLE_S24LE
            case .int32: form = PA_SAMPLE_S32LE
            case .float32: form = PA_SAMPLE_FLOAT32LE
            }
        #else
            switch sampleFormat {
            case .int16: form = PA_SAMPLE_S16BE
            case .int24: form = PA_SAMPLE_S24BE
            case .int32: form = PA_SAMPLE_S32BE
            case .float32: form = PA_SAMPLE_FLOAT32BE
            }
        #endif
        return pa_sample_spec(
            format: form, rate: UInt32(clamping: sampleRate), channels: UInt8(clamping: channels.count))
    }

    /// The channels by libpulse's names, set explicitly so that the server never guesses.
    var pulseChannelMap: pa_channel_map {
        var map = pa_channel_map()
        pa_channel_map_init(&map)
        map.channels = UInt8(clamping: channels.count)
        var auxiliary: Int32 = 0
        withUnsafeMutableBytes(of: &map.map) { bytes in
            let positions = bytes.bindMemory(to: pa_channel_position_t.self)
            for (index, channel) in channels.prefix(positions.count).enumerated() {
                positions[index] =
                    channel.pulsePosition ?? pa_channel_position_t(PA_CHANNEL_POSITION_AUX0.rawValue + auxiliary)
                if channel == .auxiliary { auxiliary += 1 }
            }
        }
        return map
    }

    /// The format that a device reports; nil: it has no name here (8 bit, companded, compressed).
    init?(_ spec: pa_sample_spec, _ map: pa_channel_map) {
        let form: SampleFormat
        switch spec.format {
        case PA_SAMPLE_S16LE, PA_SAMPLE_S16BE: form = .int16
        case PA_SAMPLE_S32LE, PA_SAMPLE_S32BE, PA_SAMPLE_S24_32LE, PA_SAMPLE_S24_32BE, PA_SAMPLE_S24LE,
            PA_SAMPLE_S24BE:
            form = .int32
        case PA_SAMPLE_FLOAT32LE, PA_SAMPLE_FLOAT32BE: form = .float32
        default: return nil
        }
        guard spec.channels >= 1, spec.rate >= 1 else { return nil }
        let channels = withUnsafeBytes(of: map.map) { bytes in
            bytes.bindMemory(to: pa_channel_position_t.self).prefix(Int(min(map.channels, spec.channels))).map {
                position in
                ChannelPosition.allCases.first { $0.pulsePosition == position } ?? .auxiliary
            }
        }
        self.init(sampleFormat: form, sampleRate: Int(spec.rate), channels: channels)
    }
}

extension ChannelPosition {
    /// libpulse's name for the position; nil: one of its numbered auxiliary positions.
    fileprivate var pulsePosition: pa_channel_position_t? {
        switch self {
        case .mono: PA_CHANNEL_POSITION_MONO
        case .frontLeft: PA_CHANNEL_POSITION_FRONT_LEFT
        case .frontRight: PA_CHANNEL_POSITION_FRONT_RIGHT
        case .frontCenter: PA_CHANNEL_POSITION_FRONT_CENTER
        case .lowFrequency: PA_CHANNEL_POSITION_LFE
        case .rearLeft: PA_CHANNEL_POSITION_REAR_LEFT
        case .rearRight: PA_CHANNEL_POSITION_REAR_RIGHT
        case .rearCenter: PA_CHANNEL_POSITION_REAR_CENTER
        case .frontLeftOfCenter: PA_CHANNEL_POSITION_FRONT_LEFT_OF_CENTER
        case .frontRightOfCenter: PA_CHANNEL_POSITION_FRONT_RIGHT_OF_CENTER
        case .sideLeft: PA_CHANNEL_POSITION_SIDE_LEFT
        case .sideRight: PA_CHANNEL_POSITION_SIDE_RIGHT
        case .topCenter: PA_CHANNEL_POSITION_TOP_CENTER
        case .topFrontLeft: PA_CHANNEL_POSITION_TOP_FRONT_LEFT
        case .topFrontRight: PA_CHANNEL_POSITION_TOP_FRONT_RIGHT
        case .topFrontCenter: PA_CHANNEL_POSITION_TOP_FRONT_CENTER
        case .topRearLeft: PA_CHANNEL_POSITION_TOP_REAR_LEFT
        case .topRearRight: PA_CHANNEL_POSITION_TOP_REAR_RIGHT
        case .topRearCenter: PA_CHANNEL_POSITION_TOP_REAR_CENTER
        case .auxiliary: nil
        }
    }
}
