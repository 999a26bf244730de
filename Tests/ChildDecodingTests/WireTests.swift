import ChildDecoding
import Testing

/// Messages between the daemon and its child: whole messages survive the round trip, and everything else is rejected.
@Suite struct WireTests {
    static let opened: OpenedMedia = {
        var media = OpenedMedia(
            format: WireFormat(sample: .float32, sampleRate: 48_000, positions: [0, 1, 2, 255]), codec: "AAC",
            sourceSampleRate: 44_100)
        media.length = 123_456
        media.isSeekable = true
        media.isPublic = true
        media.bitsPerSample = 24
        media.bitRate = 128_000
        media.tags = [WireTag("TITLE", "Größe".utf8), WireTag("ARTIST", [0xFF, 0, 0x20])]
        media.chapters = [WireChapter(start: 0, title: []), WireChapter(start: 1_000_000, title: Array("Zwei".utf8))]
        return media
    }()

    static let request: OpenRequest = {
        var request = OpenRequest()
        request.address = "https://user:secret@example.org/live"
        request.mayUseLoopback = true
        request.certificates = "/etc/ca.pem"
        request.userAgent = "nowplayingd/1"
        request.wanted = WireFormat(sample: .int16, sampleRate: 44_100, positions: [0, 1])
        return request
    }()

    @Test("messages come back as they were")
    func roundTrips() throws {
        #expect(try OpenedMedia(Self.opened.bytes) == Self.opened)
        #expect(try OpenRequest(Self.request.bytes) == Self.request)
        let seek = WireSeek(number: 7, frame: 1 << 40)
        #expect(try WireSeek(seek.bytes) == seek)
        let failure = WireFailure(.lost, "the connection was lost")
        #expect(try WireFailure(failure.bytes) == failure)
        let tags = [WireTag("TITLE", [1, 2, 3]), WireTag("GENRE", [])]
        #expect(try WireTag.tags(WireTag.bytes(tags)) == tags)
        let header = try WireMessage.header(WireMessage.audio.header(count: 4096))
        #expect(header.kind == .audio)
        #expect(header.count == 4096)
    }

    @Test("a message that is cut, or longer than it says, is none")
    func cutMessages() {
        let whole = Self.opened.bytes
        for count in whole.indices { #expect(throws: WireError.self) { try OpenedMedia(whole[..<count]) } }
        #expect(throws: WireError.self) { try OpenedMedia(whole + [0]) }
        let request = Self.request.bytes
        for count in request.indices { #expect(throws: WireError.self) { try OpenRequest(request[..<count]) } }
        #expect(throws: WireError.self) { try WireSeek([1, 2, 3]) }
        #expect(throws: WireError.self) { try WireFailure([9, 0, 0]) }
    }

    @Test("whatever byte of a message is changed, it is refused or keeps its bounds")
    func changedMessages() {
        let whole = Self.opened.bytes
        for place in whole.indices {
            for value: UInt8 in [0, 1, 127, 128, 255] {
                var changed = whole
                changed[place] = value
                guard let media = try? OpenedMedia(changed) else { continue }
                #expect(WireFormat.sampleRates.contains(media.format.sampleRate))
                #expect(WireFormat.channelCounts.contains(media.format.positions.count))
                #expect((media.length ?? 0) >= 0 && (media.length ?? 0) <= 1 << 53)
                #expect(!media.isLive || (media.length == nil && !media.isSeekable))
                #expect(media.tags.count <= WireTag.maximumCount)
                #expect(media.chapters.allSatisfy { $0.start >= 0 && $0.start < 1 << 53 })
            }
        }
    }

    @Test(
        "a header that announces too much, or what nobody knows, is none",
        arguments: [
            [17, 0, 0, 0, 1, 0, 12, 0], [16, 0, 0, 0, 1, 0, 10, 0],
            [99, 0, 0, 0, 0, 0, 0, 0], [17, 1, 0, 0, 0, 0, 0, 0],
            [17, 0, 0, 1, 0, 0, 0, 0], [17, 0, 0, 0, 0, 0, 0, 255],
        ] as [[UInt8]])
    func headers(_ bytes: [UInt8]) {
        #expect(throws: WireError.self) { try WireMessage.header(bytes) }
    }

    @Test("what goes over the limits is left out by who sends")
    func limits() throws {
        var media = Self.opened
        media.tags = Array(repeating: WireTag("TITLE", [UInt8](repeating: 65, count: 9000)), count: 200)
        media.chapters = Array(repeating: WireChapter(start: 5, title: [UInt8](repeating: 66, count: 900)), count: 3000)
        let taken = try OpenedMedia(media.bytes)
        #expect(taken.tags.count == WireTag.maximumCount)
        #expect(taken.tags.allSatisfy { $0.value.count == WireTag.maximumBytes })
        #expect(taken.chapters.count == WireChapter.maximumCount)
        #expect(media.bytes.count <= WireMessage.maximumBodyBytes)
    }
}

@Suite struct PictureWireTests {
    @Test("a request for pictures is read as it was written, and nothing else is") func requests() throws {
        var source = OpenRequest()
        source.address = "https://example.org/a.jpg"
        source.wasPublic = true
        let request = PictureRequest(.fetch, source)
        #expect(try PictureRequest(request.bytes) == request)
        for count in 0..<request.bytes.count {
            #expect(throws: WireError.self) { try PictureRequest(request.bytes.prefix(count)) }
        }
        #expect(throws: WireError.self) { try PictureRequest(request.bytes + [0]) }
        #expect(throws: WireError.self) { try PictureRequest([9] + request.bytes.dropFirst()) }
        let picture = WirePicture(kindNumber: 3, count: WirePicture.maximumBytes)
        #expect(try WirePicture(picture.bytes) == picture)
        #expect(throws: WireError.self) { try WirePicture(picture.bytes.dropLast()) }
    }
}
