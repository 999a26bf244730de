import AudioCore
import Glibc
import LinuxSystem
import NowPlaying
import Synchronization
import TestSupport
import Testing

@testable import PlaybackEngine

@Suite struct DecodeThreadTests {
    @Test("chapters from another source are requested once per item, regardless of seeks")
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

    @Test("a failed decoder is not used again: a seek opens the item anew")
    func failedDecoderIsReplaced() async throws {
        let opened = Mutex(0)
        let thread = try #require(
            await DecodingHouse.start {
                opened.withLock { $0 += 1 }
                return opened.withLock { $0 } == 1 ? Failing() : Silence()
            })
        let file = MediaSource.file(try #require(FilePath(Array("/a.wav".utf8))))
        for run in 1...2 {
            let item = DecodeItem(ticket: run, id: ItemID(1), source: file, position: run == 1 ? 0 : 0.5)
            thread.decode.begin(run: run, item, in: nil, prefill: 0.1)
            #expect(await thread.opened().itemStart == (run == 1 ? 0 : 4000))
        }
        #expect(opened.withLock { $0 } == 2)
        await LoopThread.run { thread.decode.end() }
    }

    @Test("a backward scan goes backward, too, if another process decodes")
    func lateBackward() async throws {
        let thread = try #require(await DecodingHouse.start { LateNumbers() })
        let file = MediaSource.file(try #require(FilePath(Array("/a.m4a".utf8))))
        let item = DecodeItem(ticket: 1, id: ItemID(1), source: file, position: 1, chosenRate: -2, scans: true)
        thread.decode.begin(run: 1, item, in: nil, prefill: 0.2)
        let (ring, end) = await thread.reached()
        var samples: [Int16] = []
        ring.read(ring.begin..<end) { samples += Array($0.bindMemory(to: Int16.self)) }
        // The middle of each piece of 0.04 s, which has the file's level.
        let middles = stride(from: 160, to: 1600, by: 320).map { samples[$0] }
        let goesBack = middles == middles.sorted(by: >) && Set(middles).count == 5
        #expect(goesBack && middles.allSatisfy { $0 < 8000 }, "\(middles)")
        await LoopThread.run { thread.decode.end() }
    }

    @Test("a station begins with what its server sends in advance, however much is ordered") func stationBegins()
        async throws
    {
        let thread = try #require(await DecodingHouse.start { Advance() })
        let station = MediaSource.file(try #require(FilePath(Array("/station".utf8))))
        let item = DecodeItem(ticket: 1, id: ItemID(1), source: station, position: 0)
        thread.decode.begin(run: 1, item, in: nil, prefill: 2.4)
        let (ring, end) = await thread.reached()
        #expect(end - ring.begin == 8000)
        await LoopThread.run { thread.decode.end() }
    }
}

/// A station whose server sends a second in advance, and nothing after it.
private final class Advance: LateDecoder {
    let format = AudioFormat(sampleFormat: .int16, sampleRate: 8000, channelCount: 1)
    let mediaFormat = MediaFormat(codec: "silence", sampleRate: 8000, channels: 1)
    let lengthInFrames: Int64? = nil
    let metadata = MediaMetadata()
    let isSeekable = false
    let isLive = true
    let patience = 60.0
    /// Both ends of a pipe without a byte.
    private let ends: [Int32] = {
        var ends: [Int32] = [-1, -1]
        precondition(pipe(&ends) == 0)
        return ends
    }()
    var descriptor: Int32 { ends[0] }
    private var frame = 0

    deinit { ends.forEach { close($0) } }

    func takeMetadataChange() -> MediaMetadata? { nil }
    func wait(seconds: Double) -> Bool { false }
    func isOpened() throws(DecodingError) -> Bool { true }
    func seek(toFrame frame: Int64) throws(DecodingError) { throw DecodingError(.broken, "it is live") }

    func readAvailable(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int? {
        let count = try read(into: buffer)
        return count > 0 ? count : nil
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int {
        let count = min(buffer.count / 2, 100, 8000 - frame)
        frame += count
        return count
    }
}

/// Fails at its first frame and ever after.
private final class Failing: AudioDecoder {
    let format = AudioFormat(sampleFormat: .int16, sampleRate: 8000, channelCount: 1)
    let mediaFormat = MediaFormat(codec: "none", sampleRate: 8000, channels: 1)
    let lengthInFrames: Int64? = 16000
    let metadata = MediaMetadata()
    let isSeekable = true
    private static let failure = DecodingError(.broken, "it is broken")

    func takeMetadataChange() -> MediaMetadata? { nil }
    func seek(toFrame frame: Int64) throws(DecodingError) { throw Self.failure }
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int { throw Self.failure }
}

/// Two seconds from a late source, in which each sample is its frame number; every other read has nothing yet.
private final class LateNumbers: LateDecoder {
    let format = AudioFormat(sampleFormat: .int16, sampleRate: 8000, channelCount: 1)
    let mediaFormat = MediaFormat(codec: "numbers", sampleRate: 8000, channels: 1)
    let lengthInFrames: Int64? = 16000
    let metadata = MediaMetadata()
    let isSeekable = true
    let isLive = false
    let patience = 60.0
    /// Always readable.
    let descriptor = open("/dev/null", O_RDONLY)
    private var frame: Int64 = 0
    private var isLate = false

    deinit { close(descriptor) }

    func takeMetadataChange() -> MediaMetadata? { nil }
    func wait(seconds: Double) -> Bool { true }
    func isOpened() throws(DecodingError) -> Bool { true }
    func seek(toFrame frame: Int64) throws(DecodingError) { self.frame = frame }

    func readAvailable(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int? {
        isLate.toggle()
        return isLate ? nil : try read(into: buffer)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int {
        let samples = buffer.bindMemory(to: Int16.self)
        let count = min(samples.count, 100, Int(16000 - frame))
        for index in 0..<count { samples[index] = Int16(frame + Int64(index)) }
        frame += Int64(count)
        return count
    }
}
