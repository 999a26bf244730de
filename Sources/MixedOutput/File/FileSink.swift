package import AudioCore
package import LinuxSystem
import NowPlaying

/// Sends mixed frames into a WAVE file, at the pace of a device: the sound of a real output. Runs of playback follow
/// each other in the file without a gap. After each write the header is that of a complete file.
@PlayerLoop package final class FileSink: MixSink {
    package weak var owner: (any MixSinkOwner)?
    package let format: FixedFormat
    package let delay = 0.0
    package let lead = 0.2
    /// A file waits for late frames.
    package let patience = Double.infinity
    private let loop: EventLoop
    private let connection: PathConnection
    /// The file, from the first connection on.
    private var file: WaveFile?

    /// A sink for this path, not connected yet. It overwrites an existing file.
    package init(_ loop: EventLoop, path: String, _ format: FixedFormat) {
        self.loop = loop
        self.format = format
        connection = PathConnection(loop, path: path)
    }

    package var isConnected: Bool { connection.phase == .connected }
    package var isConnecting: Bool { connection.phase == .connecting }
    package var device: OutputDevice { connection.device("file", format) }

    package func connect() {
        connection.begin { [self] in
            do throws(FileError) {
                if file == nil { file = try WaveFile(path: connection.path, format.audioFormat) }
            } catch { return fail(error) }
            connection.complete()
            owner?.sinkConnected()
        }
    }

    package func disconnect() { connection.end() }

    private func fail(_ error: FileError) {
        let error = OutputError(.noDevice, "\(connection.shown) cannot be written: \(error.text)")
        connection.fail(error)
        owner?.sinkFailed(error)
    }

    package func send(_ frames: UnsafeRawBufferPointer) -> Int {
        guard isConnected, let file else { return 0 }
        do throws(FileError) {
            try append(frames, to: file)
            try file.finish()
            return frames.count
        } catch {
            connection.end()
            loop.later { [self] in fail(error) }
            return 0
        }
    }

    /// Appends frames. A WAVE file has samples of 24 bit in the high bytes of 4.
    private func append(_ frames: UnsafeRawBufferPointer, to file: WaveFile) throws(FileError) {
        guard format.sample == .int24 else { return try file.append(frames) }
        var shifted = [Int32](unsafeUninitializedCapacity: frames.count / 4) { result, count in
            count = frames.count / 4
            for index in 0..<count {
                let sample = frames.loadUnaligned(fromByteOffset: 4 * index, as: Int32.self)
                result.initializeElement(at: index, to: sample << 8)
            }
        }
        var failure: FileError?
        shifted.withUnsafeMutableBytes { bytes in
            do throws(FileError) { try file.append(UnsafeRawBufferPointer(bytes)) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    package func stall() {}
}
