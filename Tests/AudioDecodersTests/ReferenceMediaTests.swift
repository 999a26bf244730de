import AudioCore
import AudioDecoders
import ChildDecoding
import Glibc
import TestSupport
import Testing

/// Files whose content names other files and addresses: they are refused, and nothing that they name is opened.
@Suite(.enabled(if: DecodeProgram.path != nil, "nowplaying-decode is not built: its packages are missing"))
struct ReferenceMediaTests {
    private let folder = TemporaryFolder()
    private static let wave = AudioMaterial.waves(frames: 44_100).wave()

    @Test("no demuxer that opens what its content names is among those that are allowed")
    func names() {
        let opening: Set = [
            "concat", "hls", "applehttp", "dash", "imf", "sdp", "rtsp", "rtp", "sap", "image2", "image2pipe", "lavfi",
            "mlv",
            "vobsub", "mpegtsraw", "rawvideo", "ffmetadata", "webm_dash_manifest", "vapoursynth", "avisynth", "alsa",
            "pulse", "oss", "jack", "openal", "fbdev", "x11grab", "v4l2", "video4linux2", "kmsgrab", "libcdio",
            "iec61883", "libdc1394",
        ]
        #expect(opening.isDisjoint(with: DemuxerNames.allowed))
    }

    /// Playlists and scripts that name `target`, by their name.
    private static func scripts(_ target: String) -> [(String, String)] {
        [
            ("concat", "ffconcat version 1.0\nfile '\(target)'\n"),
            ("hls", "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n\(target)\n#EXT-X-ENDLIST\n"),
            ("sdp", "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 5004 RTP/AVP 0\n"),
            (
                "dash",
                "<?xml version=\"1.0\"?>\n<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" type=\"static\"><Period>"
                    + "<AdaptationSet mimeType=\"audio/mp4\"><Representation id=\"1\"><BaseURL>\(target)</BaseURL>"
                    + "</Representation></AdaptationSet></Period></MPD>\n"
            ),
        ]
    }

    @Test("as files: the child that is given one directly refuses it, and so does the daemon's own reading")
    func files() throws {
        let target = folder.write(Self.wave, "target.wav")
        for (name, text) in Self.scripts(target) {
            let path = folder.write(Array(text.utf8), name)
            let file = open(path, O_RDONLY | O_CLOEXEC)
            defer { close(file) }
            let decoder = try ChildDecoder(file: file)
            let error = #expect(throws: DecodingError.self, "\(name)") { try decoder.awaitOpening() }
            #expect(error?.kind == .notRecognised, "\(name): \(error?.message ?? "")")
            #expect(openingError(Array(text.utf8), folder)?.kind == .notRecognised, "\(name)")
        }
    }

    @Test("over HTTP: what they name is not asked for")
    func addresses() throws {
        for (name, text) in Self.scripts("/target.wav") where name != "hls" {
            let server = HTTPServer { request, connection in
                let isTarget = request.target == "/target.wav"
                connection.file(isTarget ? Self.wave : Array(text.utf8), type: "audio/wav", request)
            }
            #expect(refusal(server.url("/script")) != "", "\(name)")
            #expect(Set(server.requests.map(\.target)) == ["/script"], "\(name)")
        }
    }

    /// A movie without samples of its own, whose data reference is an alias record that names `target`.
    private func referenceMovie(_ target: String) throws -> [UInt8] {
        let source = folder.write(Self.wave, "source.wav")
        let words = [
            "-v", "error", "-nostdin", "-y", "-i", source, "-c:a", "pcm_s16be", "-f", "mov", folder.path("a.mov"),
        ]
        try #require(AudioMaterial.run("ffmpeg", words) == 0)
        let bytes = folder.read("a.mov")
        let movie = try #require(bytes.ranges(of: Array("moov".utf8)).last).lowerBound - 4
        let file = try #require(bytes.firstRange(of: Array("mdat".utf8))).lowerBound - 4
        let reference = try #require(bytes[movie...].firstRange(of: Array("dref".utf8))).lowerBound - 4
        var alias = ByteBuilder()
        alias.bytes = [UInt8](repeating: 0, count: 10) + [1, 0x41] + [UInt8](repeating: 0, count: 26 + 12)
        alias.bytes += [UInt8](repeating: 0, count: 1 + 63 + 16)
        alias.big(0, 2)
        alias.big(0, 2)
        alias.bytes += [UInt8](repeating: 0, count: 16)
        let path = Array(target.utf8) + (target.utf8.count % 2 == 1 ? [0] : [])
        alias.big(2, 2)
        alias.big(path.count, 2)
        alias.bytes += path
        alias.big(0xFFFF, 2)
        alias.big(0, 2)
        var entry = ByteBuilder()
        entry.big(12 + alias.bytes.count, 4)
        entry.text("alis")
        entry.big(0, 4)
        entry.bytes += alias.bytes
        let old = bytes[reference..<reference + 4].reduce(0) { $0 << 8 | Int($1) }
        var box = ByteBuilder()
        box.big(16 + entry.bytes.count, 4)
        box.text("dref")
        box.big(0, 4)
        box.big(1, 4)
        box.bytes += entry.bytes
        var result = Array(bytes[..<reference]) + box.bytes + bytes[(reference + old)...]
        // Every box around it grows as much.
        for name in ["moov", "trak", "mdia", "minf", "dinf"] {
            let place = try #require(result[movie...].firstRange(of: Array(name.utf8))).lowerBound - 4
            let size = result[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } + box.bytes.count - old
            var number = ByteBuilder()
            number.big(size, 4)
            result.replaceSubrange(place..<place + 4, with: number.bytes)
        }
        return Array(result[..<file]) + result[movie...]
    }

    @Test("a reference movie is refused, as a file and over HTTP, and what it names is not asked for")
    func movie() throws {
        let target = folder.write(Self.wave, "target.wav")
        let movie = try referenceMovie(target)
        #expect(openingError(movie, folder) != nil)
        for name in ["/target.wav", "http://127.0.0.1/target.wav"] {
            let movie = try referenceMovie(name)
            let server = HTTPServer { request, connection in
                connection.file(request.target == "/a.mov" ? movie : Self.wave, type: "video/quicktime", request)
            }
            #expect(refusal(server.url("/a.mov")) != "")
            #expect(Set(server.requests.map(\.target)) == ["/a.mov"])
        }
    }
}
