import ChildDecoding
import Glibc
import NowPlaying

/// Carries out the order to measure the loudness of the file.
enum Loudness {
    /// Decodes the whole file, sends its loudness, and ends with the client. Meanwhile it reports that it works. Throws
    /// `WireFailure`.
    static func send(_ channel: DaemonChannel, _ profile: Profile) throws(WireFailure) -> Never {
        guard profile == .file else {
            throw WireFailure(.unavailable, "this sandbox profile does not support the request")
        }
        let media = try Media(FileInput(), nil)
        let meter = try LoudnessMeter(media.opened.format)
        while true {
            // Ends the process if the client has closed.
            _ = channel.hasCommand()
            channel.showProgress(at: MonotonicTime.now.seconds)
            switch try media.next() {
            case .frames(let frames): try meter.add(frames)
            case .tags, .interrupted: continue
            case .end:
                channel.send(.measured, meter.result.bytes)
                channel.awaitEnd()
            }
        }
    }
}
