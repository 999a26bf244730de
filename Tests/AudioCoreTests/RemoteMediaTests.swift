import AudioCore
import LinuxSystem
import NowPlaying
import Testing

/// Connections that were opened ahead of play.
@Suite struct RemoteMediaTests {
    @Test("what was opened for it is taken once, and soon: of an old connection nobody knows what comes of it")
    func kept() {
        let media = RemoteMedia(address: "http://a", shownAddress: "http://a", mayUseLoopback: false)
        let begin = MonotonicTime(nanoseconds: 1_000_000_000_000)
        var decoder: Nothing? = Nothing()
        weak let life = decoder
        media.keep(Nothing(), at: begin)
        #expect(media.takeKept(at: begin.advanced(bySeconds: 9.9)) != nil)
        #expect(media.takeKept(at: begin.advanced(bySeconds: 9.9)) == nil)
        if let decoder { media.keep(decoder, at: begin) }
        decoder = nil
        #expect(life != nil)
        #expect(media.takeKept(at: begin.advanced(bySeconds: 10.1)) == nil)
        #expect(life == nil)
    }
}

private final class Nothing: AudioDecoder {
    let format = AudioFormat(sampleFormat: .int16, sampleRate: 8000, channelCount: 1)
    let mediaFormat = MediaFormat(codec: "nothing", sampleRate: 8000, channels: 1)
    let lengthInFrames: Int64? = 0
    let metadata = MediaMetadata()
    let isSeekable = false

    func takeMetadataChange() -> MediaMetadata? { nil }
    func seek(toFrame frame: Int64) throws(DecodingError) {}
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int { 0 }
}
