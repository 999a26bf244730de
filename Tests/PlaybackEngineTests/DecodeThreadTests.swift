import AudioCore
import LinuxSystem
import NowPlaying
import Synchronization
import TestSupport
import Testing

@testable import PlaybackEngine

@Suite struct DecodeThreadTests {
    @Test("who else knows an item's chapters is asked once, whatever is sought in it, and again for another item")
    func chaptersAreAskedForOnce() async throws {
        let asked = Mutex<[MediaSource]>([])
        let chapters = [Chapter(start: 0, title: "a"), Chapter(start: 1, title: "b")]
        let knowledge = SourceKnowledge(chapters: { source in
            asked.withLock { $0.append(source) }
            return chapters
        })
        let thread = try #require(await DecodingHouse.start(knowledge))
        let files = try ["/a.wav", "/b.wav"].map { MediaSource.file(try #require(FilePath(Array($0.utf8)))) }
        var found: [[Chapter]?] = []
        for (run, (file, position)) in [(0, 0.0), (0, 0.5), (0, 0), (1, 0)].enumerated() {
            let item = DecodeItem(ticket: run, id: ItemID(Int64(file + 1)), source: files[file], position: position)
            thread.decode.begin(run: run + 1, item, in: nil, prefill: 0.1)
            found.append(await thread.opened().metadata.chapters)
        }
        #expect(found == Array(repeating: chapters, count: 4))
        #expect(asked.withLock { $0 }.map(\.path) == files.map(\.path))
        await LoopThread.run { thread.decode.end() }
    }
}

/// A decode thread whose every file is two seconds of silence.
private struct DecodingHouse: Sendable {
    let decode: DecodeThread
    private let reports: AsyncStream<Void>

    static func start(_ knowledge: SourceKnowledge) async -> DecodingHouse? {
        let (reports, arrival) = AsyncStream.makeStream(of: Void.self)
        return await LoopThread.run {
            DecodeThread(
                EventLoop.current, open: { (_, _) throws(DecodingError) in Silence() },
                ringCapacity: { $0.frames(seconds: 1) }, rates: RateRules(), knowledge: knowledge,
                deliver: { arrival.yield() }
            ).map { DecodingHouse(decode: $0, reports: reports) }
        }
    }

    /// The next item that is open.
    func opened() async -> OpenedItem {
        for await _ in reports {
            for case .opened(let item) in decode.takeReports() { return item }
        }
        preconditionFailure("the reports have ended")
    }
}

/// Two seconds of silence.
private final class Silence: AudioDecoder {
    let format = AudioFormat(sampleFormat: .int16, sampleRate: 8000, channelCount: 1)
    let mediaFormat = MediaFormat(codec: "silence", sampleRate: 8000, channels: 1)
    let lengthInFrames: Int64? = 16000
    let metadata = MediaMetadata()
    let isSeekable = true
    private var frame: Int64 = 0

    func takeMetadataChange() -> MediaMetadata? { nil }

    func seek(toFrame frame: Int64) throws(DecodingError) { self.frame = min(frame, 16000) }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int {
        let count = min(buffer.count / 2, Int(16000 - frame))
        buffer.copyBytes(from: repeatElement(0, count: count * 2))
        frame += Int64(count)
        return count
    }
}
