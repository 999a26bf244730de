package import AudioCore
import Glibc
package import LinuxSystem

/// Writes exactly the samples that would have been played, as fast as it can: one WAVE file per run of equal format,
/// `out.wav`, then `out-2.wav` and so on.
///
/// Its clock is that of the samples: audible is what is in the file. Volume, where it is not 1, is applied to the samples
/// as the server would (amplitude = volume³). A run begins with its first sample, so no file is ever empty.
@PlayerLoop package final class FileOutput: AudioOutput {
    package weak var delegate: (any AudioOutputDelegate)?
    private(set) package var isConnected = false
    private let loop: EventLoop
    private let path: String
    private var streams: [FileStream] = []
    private(set) package var isConnecting = false
    private var file: WaveFile?
    private var runs = 0
    /// Factor of the samples.
    private(set) var gain = 1.0
    package var isVolumeNeutral: Bool { gain == 1 }

    /// An output on this loop that writes to this path. Files that are there are overwritten.
    package init(_ loop: EventLoop, path: String) {
        self.loop = loop
        self.path = path
    }

    private var onlyDevice: OutputDevice {
        OutputDevice(name: "file", description: "Into \(cleanText(path))", state: .running, isDefault: true)
    }

    package var device: OutputDevice? { isConnected ? onlyDevice : nil }

    package func connect() {
        guard !isConnected, !isConnecting else { return }
        isConnecting = true
        loop.later { [self] in
            guard isConnecting else { return }
            isConnecting = false
            isConnected = true
            delegate?.outputConnectionChanged(nil)
            delegate?.outputDeviceChanged(device, nil)
        }
    }

    /// Also completes the file. What is written after connecting again is a new run.
    package func disconnect() {
        isConnecting = false
        isConnected = false
        for stream in streams { stream.end() }
        streams = []
        file = nil
    }

    /// Opens a stream, as `AudioOutput` has it.
    package func openStream(
        _ format: AudioFormat, isLive: Bool, delegate: any AudioStreamDelegate
    ) -> any AudioStream {
        let stream = FileStream(self, loop, format, delegate)
        if isConnected {
            streams.append(stream)
            stream.begin()
        } else {
            stream.notify { $0.streamFailed(stream, .disconnected) }
        }
        return stream
    }

    package func setVolume(_ volume: Double, muted: Bool) {
        let volume = min(max(volume, 0), 1)
        gain = muted ? 0 : volume * volume * volume
    }

    package func listDevices(_ completion: @escaping @PlayerLoop (Result<[ListedOutput], OutputError>) -> Void) {
        loop.later { [self] in completion(.success([ListedOutput(onlyDevice)])) }
    }

    package func selectDevice(named name: String?) {}

    // MARK: For streams

    /// The stream was closed; the header of the file is made right.
    func forget(_ stream: FileStream) {
        streams.removeAll { $0 === stream }
        completeHeader()
    }

    /// Writes frames into the run of this format, after a change of format into a new one.
    func append(_ frames: UnsafeRawBufferPointer, _ format: AudioFormat) throws(OutputError) {
        do throws(FileError) {
            if file?.format != format {
                file = nil
                file = try WaveFile(path: path(ofRun: runs + 1), format)
                runs += 1
            }
            try file?.append(frames)
        } catch {
            let number = max(1, file == nil ? runs + 1 : runs)
            throw OutputError(.noDevice, "\(cleanText(path(ofRun: number))) cannot be written: \(error.text)")
        }
    }

    /// Makes the file readable as it is now. A fault goes to the log: the samples are in the file.
    func completeHeader() { file?.complete() }

    /// `out.wav`, `out-2.wav`, `out-3.wav`, …
    private func path(ofRun number: Int) -> String {
        guard number > 1 else { return path }
        let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "\(path)-\(number)" }
        return "\(path[..<dot])-\(number)\(path[dot...])"
    }
}
