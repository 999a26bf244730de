import ForeignMedia
import Glibc

/// Decodes one source for the daemon, from the order to open it to the end of the process.
final class Session {
    /// Bytes of audio that are sent at once at most.
    private static let pieceBytes = 64 << 10
    /// Share of what is ahead of the listener that a piece of a live stream may be: larger ones are fewer, and wake the
    /// daemon less.
    private static let shareOfLead = 8.0
    /// Seconds of a piece of a live stream, at least and at most.
    private static let pieceSeconds = 0.02...0.5

    private let channel: DaemonChannel
    private let media: Media
    private var piece: [UInt8] = []
    /// When the first frames were sent, and how many have been since, for a live stream.
    private var began: Double?
    private var sent: Int64 = 0

    /// Opens the source and tells what was found. Throws `WireFailure`.
    init(_ channel: DaemonChannel, _ profile: Profile, _ request: OpenRequest) throws(WireFailure) {
        self.channel = channel
        let input: any MediaInput =
            profile == .network ? try HTTPInput(channel, request) : FileInput()
        media = try Media(input, request.wanted)
        channel.send(.opened, media.opened.bytes)
    }

    /// Sends what is decoded and carries out seeks, until the daemon closes or nothing more can be had.
    func serve() -> Never {
        while true {
            do throws(WireFailure) {
                if channel.hasCommand(), let seek = channel.takeSeek() { try carryOut(seek) }
                switch try media.next() {
                case .frames(let frames): add(frames)
                case .tags(let tags):
                    flush()
                    channel.send(.metadata, WireTag.bytes(tags))
                case .interrupted: break
                case .end:
                    flush()
                    channel.send(.end, [])
                    try carryOut(channel.awaitSeek())
                }
            } catch {
                flush()
                channel.send(.failed, error.bytes)
                channel.awaitEnd()
            }
        }
    }

    private func carryOut(_ seek: WireSeek) throws(WireFailure) {
        piece = []
        try media.seek(to: seek.frame)
        channel.send(.seeked, seek.bytes)
    }

    /// Collects frames to pieces of a good size.
    private func add(_ frames: UnsafeRawBufferPointer) {
        piece += frames
        if piece.count >= wantedBytes { flush() }
    }

    private var wantedBytes: Int {
        guard media.opened.isLive else { return Self.pieceBytes }
        let rate = Double(media.opened.format.sampleRate)
        let now = Clock.seconds
        let lead = Double(sent) / rate - (now - (began ?? now))
        let seconds = min(max(lead / Self.shareOfLead, Self.pieceSeconds.lowerBound), Self.pieceSeconds.upperBound)
        return Int(seconds * rate) * media.opened.format.bytesPerFrame
    }

    private func flush() {
        if began == nil, !piece.isEmpty { began = Clock.seconds }
        sent += Int64(piece.count / media.opened.format.bytesPerFrame)
        piece.withUnsafeBytes { bytes in
            let step = Self.pieceBytes / media.opened.format.bytesPerFrame * media.opened.format.bytesPerFrame
            for start in stride(from: 0, to: bytes.count, by: step) {
                channel.send(.audio, UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + step, bytes.count)]))
            }
        }
        piece.removeAll(keepingCapacity: true)
    }
}
