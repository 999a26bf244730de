import ChildDecoding
import Glibc

/// Decodes one source for the daemon, from the order to open it to the end of the process.
final class Session {
    private let channel: DaemonChannel
    private let media: Media
    private let audio: AudioSender

    /// Opens the source and describes it to the daemon. Throws `WireFailure`.
    init(_ channel: DaemonChannel, _ profile: Profile, _ request: OpenRequest) throws(WireFailure) {
        self.channel = channel
        let input: any MediaInput =
            profile == .network ? try HTTPInput(channel, request) : FileInput()
        media = try Media(input, request.wanted)
        channel.send(.opened, media.opened.bytes)
        audio = AudioSender(channel, media.opened)
        channel.collect(from: audio)
    }

    /// Sends decoded frames and carries out seeks, until the daemon closes or the source fails.
    func serve() -> Never {
        while true {
            do throws(WireFailure) {
                if channel.hasCommand(), let seek = channel.takeSeek() { try carryOut(seek) }
                switch try media.next() {
                case .frames(let frames): audio.add(frames)
                case .tags(let tags):
                    audio.flush()
                    channel.send(.metadata, WireTag.bytes(tags))
                case .interrupted: break
                case .end:
                    audio.flush()
                    channel.send(.end, [])
                    try carryOut(channel.awaitSeek())
                }
            } catch {
                audio.flush()
                if let beginning = media.beginning { channel.send(.beginning, beginning.bytes) }
                channel.send(.failed, error.bytes)
                channel.awaitEnd()
            }
        }
    }

    private func carryOut(_ seek: WireSeek) throws(WireFailure) {
        audio.drop()
        try media.seek(to: seek.frame)
        channel.send(.seeked, seek.bytes)
    }
}
