package import AudioCore
package import NowPlaying

extension Fidelity {
    /// Fidelity of a device for samples of `format` with this many significant bits (nil: all bits of the format). An unknown
    /// property of the device counts as exact.
    package init(of format: AudioFormat, bits: Int?, at device: OutputDevice) {
        self = .exact
        if let other = device.format {
            if other.sampleRate != format.sampleRate {
                self = .changed(.sampleRate)
            } else if !Self.isExact(format.sampleFormat, bits: bits, at: device) {
                self = .changed(.sampleFormat)
            } else if other.channels != format.channels {
                self = .changed(.channels)
            } else if device.hasSoftwareVolume {
                self = .changed(.deviceVolume)
            }
        }
    }

    private static func isExact(_ format: SampleFormat, bits: Int?, at device: OutputDevice) -> Bool {
        if format == .float32 { return device.takesFloat }
        guard let exactBits = device.exactBits else { return true }
        return min(bits ?? .max, 8 * format.bytes) <= exactBits
    }
}
