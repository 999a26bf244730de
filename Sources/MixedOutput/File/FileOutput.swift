package import AudioCore
import Glibc
package import LinuxSystem

/// Writes exactly the samples that would have been played, as fast as it can: one WAVE file per run of equal format,
/// `out.wav`, then `out-2.wav` and so on.
///
/// Its clock is that of the samples: audible is what is in the file. Volume, where it is not 1, is applied to the samples
/// as the server would (amplitude = volume³). A run begins with its first sample, so no file is ever empty.
@PlayerLoop package final class FileOutput: SimulatedOutput<FileStream> {
    private let path: String
    private var file: WaveFile?
    private var runs = 0
    package override var mixesStreams: Bool { false }

    /// An output on this loop that writes to this path. Files that are there are overwritten.
    package init(_ loop: EventLoop, path: String) {
        self.path = path
        super.init(
            loop,
            OutputDevice(name: "file", description: "Into \(cleanText(path))", state: .running, isDefault: true))
    }

    /// Also completes the file. What is written after connecting again is a new run.
    package override func disconnect() {
        super.disconnect()
        file = nil
    }

    override func makeStream(
        _ format: AudioFormat, isLive: Bool, isAnnouncement: Bool, _ delegate: any AudioStreamDelegate
    ) -> FileStream? { FileStream(self, loop, format, delegate) }

    package override func openAnnouncement(
        _ format: AudioFormat, delegate: any AudioStreamDelegate
    ) -> (any AudioStream)? { nil }

    // MARK: For streams

    /// The header of the file is made right, too.
    override func forget(_ stream: FileStream) {
        super.forget(stream)
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
