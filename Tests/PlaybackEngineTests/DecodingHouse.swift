import AudioCore
import LinuxSystem
import NowPlaying
import TestSupport

@testable import PlaybackEngine

/// A decode thread for which every file is two seconds of silence.
struct DecodingHouse: Sendable {
    let decode: DecodeThread
    private let reports: AsyncStream<Void>

    static func start(
        _ knowledge: SourceKnowledge = SourceKnowledge(),
        _ open: @escaping @Sendable () -> any AudioDecoder = { Silence() }
    ) async -> DecodingHouse? {
        await start(knowledge) { (_, _) throws(DecodingError) in open() }
    }

    /// The same with files that `opener` opens.
    static func start(
        _ knowledge: SourceKnowledge = SourceKnowledge(), opener: @escaping DecoderOpener
    ) async -> DecodingHouse? {
        let (reports, arrival) = AsyncStream.makeStream(of: Void.self)
        return await LoopThread.run {
            DecodeThread(
                EventLoop.current, open: opener, ringCapacity: { $0.frames(seconds: 1) }, rates: RateRules(),
                knowledge: knowledge, deliver: { arrival.yield() }
            ).map { DecodingHouse(decode: $0, reports: reports) }
        }
    }

    /// The reports up to the first that `isLast` accepts, and those that came with it.
    func reports(until isLast: (DecodeReport) -> Bool) async -> [DecodeReport] {
        var taken: [DecodeReport] = []
        for await _ in reports {
            taken += decode.takeReports()
            if taken.contains(where: isLast) { return taken }
        }
        preconditionFailure("the reports have ended")
    }

    /// The ring when it has the requested frames, and the frame after them.
    func reached() async -> (ring: SampleRing, end: Int64) {
        for await _ in reports {
            for case .reached(let ring, let end) in decode.takeReports() { return (ring, end) }
        }
        preconditionFailure("the reports have ended")
    }

    /// Next opened item.
    func opened() async -> OpenedItem {
        for await _ in reports {
            for case .opened(let item) in decode.takeReports() { return item }
        }
        preconditionFailure("the reports have ended")
    }
}

/// Two seconds of silence.
final class Silence: AudioDecoder {
    let format = AudioFormat(sampleFormat: .int16, sampleRate: 8000, channelCount: 1)
    let mediaFormat = MediaFormat(codec: "silence", sampleRate: 8000, channels: 1)
    let lengthInFrames: Int64? = 16000
    let metadata: MediaMetadata
    let isSeekable = true
    private var frame: Int64 = 0

    /// Silence with these tags.
    init(_ metadata: MediaMetadata = MediaMetadata()) { self.metadata = metadata }

    func takeMetadataChange() -> MediaMetadata? { nil }

    func seek(toFrame frame: Int64) throws(DecodingError) { self.frame = min(frame, 16000) }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int {
        let count = min(buffer.count / 2, Int(16000 - frame))
        buffer.copyBytes(from: repeatElement(0, count: count * 2))
        frame += Int64(count)
        return count
    }
}
