package import AudioCore
import Glibc
import LinuxSystem
package import NowPlaying
package import PlaybackEngine
import Synchronization

/// Looks up the measured loudness of sources, by the setting in force. Any thread.
package final class LoudnessLook: Sendable {
    private let table: LoudnessTable
    private let source: Mutex<LoudnessSource>

    /// Looks into the table of this state directory.
    package init(stateDirectory: String, source: LoudnessSource) {
        table = LoudnessTable(stateDirectory: stateDirectory)
        self.source = Mutex(source)
    }

    /// Applies the setting of a reloaded configuration to sources that open from now on.
    package func setSource(_ new: LoudnessSource) { source.withLock { $0 = new } }

    /// Measured loudness of a source with these tags, if it counts beside them. Blocks as long as the disks of the source
    /// and of the table do.
    package func loudness(of media: MediaSource, tags: LoudnessTags?) -> MeasuredLoudness {
        let source = source.withLock { $0 }
        return MeasuredLoudness(source.ignoresMeasurement(beside: tags) ? nil : table.tags(of: media), source)
    }
}

extension LoudnessTable {
    /// Values of a source by the status of its file; nil: none are known. A part of a file has those of the whole file, for
    /// which the file counts as its album.
    func tags(of source: MediaSource) -> LoudnessTags? {
        if case .segment(let segment) = source {
            return tags(of: segment.audio).map { whole in
                LoudnessTags(
                    trackGain: whole.trackGain, trackPeak: whole.trackPeak, albumGain: whole.trackGain,
                    albumPeak: whole.trackPeak)
            }
        }
        return source.fileStatus.flatMap(LoudnessKey.init).flatMap { tags(of: $0) }
    }
}

extension MediaSource {
    /// Status of the file of a source that is a whole local file; nil: it is none, or it is away.
    fileprivate var fileStatus: stat? {
        var status = stat()
        switch self {
        case .plain(let packed): return packed.path.withCString({ stat($0, &status) }) == 0 ? status : nil
        case .confined(let file):
            let found = file.locate()
            guard found >= 0 else { return nil }
            defer { close(found) }
            return fstat(found, &status) == 0 ? status : nil
        case .descriptor(let descriptor, _): return fstat(descriptor.number, &status) == 0 ? status : nil
        case .segment, .remote, .handedOver: return nil
        }
    }
}
