package import AudioCore
import Glibc
package import LinuxSystem

/// Writes exactly the samples of the playback, as fast as possible: one WAVE file per run of equal format, `out.wav`,
/// then `out-2.wav` and so on.
///
/// Its clock is that of the samples: the frames in the file count as audible. A volume other than 1 is applied to the
/// samples as the server would (amplitude = volume³). A run begins with its first sample, so no file is ever empty.
@PlayerLoop package final class FileOutput: SimulatedOutput<FileStream> {
    private let path: String
    private var file: WaveFile?
    private var runs = 0
    package override var mixesStreams: Bool { false }

    /// An output on this loop that writes to this path. It overwrites existing files.
    package init(_ loop: EventLoop, path: String) {
        self.path = path
        super.init(
            loop,
            OutputDevice(name: "file", description: "Into \(cleanText(path))", state: .running, isDefault: true))
    }

    /// Also completes the file. Frames after the next connection form a new run.
    package override func disconnect() {
        super.disconnect()
        file = nil
    }

    /// Refuses a path that cannot be written. The file itself begins with the first sample.
    override func reach() {
        loop.later { [self] in
            guard isConnecting, let obstacle else { return connected() }
            let error = failure(path, obstacle, .noServer)
            lose()
            delegate?.outputConnectionChanged(error)
        }
    }

    /// Reason why the file cannot be written, or cannot be made in its folder; nil: none is known.
    private var obstacle: FileError? {
        if access(path, W_OK) == 0 { return nil }
        let reason = errno
        let end = path.lastIndex(of: "/")
        let folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        guard reason == ENOENT else { return FileError(number: reason) }
        return access(folder, W_OK | X_OK) == 0 ? nil : FileError(number: errno)
    }

    /// The failure to write a path, which also goes to the log.
    private func failure(_ path: String, _ error: FileError, _ kind: OutputError.Kind) -> OutputError {
        let message = "\(cleanText(path)) cannot be written: \(error.text)"
        Log.warning(message, LogFields(.outputFailed), oncePerMinute: message, now: EventLoop.now)
        return OutputError(kind, message)
    }

    override func makeStream(
        _ format: AudioFormat, isLive: Bool, isAnnouncement: Bool, _ delegate: any AudioStreamDelegate
    ) -> FileStream? { FileStream(self, loop, format, delegate) }

    package override func openAnnouncement(
        _ format: AudioFormat, delegate: any AudioStreamDelegate
    ) -> (any AudioStream)? { nil }

    // MARK: For streams

    /// Also completes the header of the file.
    override func forget(_ stream: FileStream) {
        super.forget(stream)
        completeHeader()
    }

    /// Writes frames into the run of this format, or into a new one after a change of format.
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
            throw failure(path(ofRun: number), error, .noDevice)
        }
    }

    /// Makes the file readable in its present state. A failure goes to the log: the samples are in the file.
    func completeHeader() { file?.complete() }

    /// Path of a run's file: `out.wav`, `out-2.wav`, `out-3.wav`, …
    private func path(ofRun number: Int) -> String {
        guard number > 1 else { return path }
        let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "\(path)-\(number)" }
        return "\(path[..<dot])-\(number)\(path[dot...])"
    }
}
