import Glibc
import LinuxSystem
import NowPlaying
import TestSupport

/// Files of the position code: a recording identifies the file and the frame.
extension TemporaryFolder {
    /// Writes frames `start ..< start + count` of the code as a WAV file of 16 bit stereo.
    func codeWave(_ name: String, from start: Int, count: Int, rate: Int = 44100) -> String {
        write(material(start, count, rate).wave(), name)
    }

    /// The same as a FLAC file.
    func codeFLAC(_ name: String, from start: Int, count: Int) -> String {
        let wave = codeWave(name + ".wav", from: start, count: count)
        let path = path(name)
        precondition(AudioMaterial.run("flac", ["-s", "-f", "-o", path, wave]) == 0)
        return path
    }

    /// A WAV file of silence that takes no room on the disk.
    func silence(_ name: String, seconds: Double, rate: Int = 8000, channels: Int = 1) -> String {
        let data = UInt32(seconds * Double(rate)) * UInt32(2 * channels)
        let head = AudioMaterial(sampleRate: rate, channels: channels, bits: 16, samples: []).wave(dataSize: data)
        let path = write(head, name)
        precondition(truncate(path, head.count + Int(data)) == 0)
        return path
    }

    private func material(_ start: Int, _ count: Int, _ rate: Int) -> AudioMaterial {
        AudioMaterial(
            sampleRate: rate, channels: 2, bits: 16,
            samples: PositionCode.int16(from: start, count: count).map { Int32($0) })
    }
}

/// Stretches of code in a recording of 16 bit stereo.
func heard(_ recorder: Recorder) -> [PositionCode.Run] { PositionCode.runs(int16Samples(recorder.bytes())) }

/// The samples of a WAV file of 16 bit that the daemon wrote.
func writtenSamples(_ path: String) -> [Int16] { int16Samples(writtenBytes(path)) }

/// The bytes of the samples of a WAV file that the daemon wrote.
func writtenBytes(_ path: String) -> [UInt8] {
    guard let file = fopen(path, "r") else { return [] }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
    guard let data = bytes.firstRange(of: Array("data".utf8)) else { return [] }
    return Array(bytes[(data.upperBound + 4)...])
}

/// True if a variable is set.
func environmentHas(_ name: String) -> Bool { currentEnvironment()[name] != nil }

/// Seconds of CLOCK_MONOTONIC.
func now() -> Double { Double(EventLoop.now.nanoseconds) / 1e9 }
