import AudioCore
import AudioDecoders
import ChildDecoding
import Foundation
import TestSupport
import Testing

/// Children that crash, hang, flood and lie: each is an error in words, and nothing of them is left.
@Suite(.serialized) struct ChildLieTests {
    private let folder = TemporaryFolder()

    private static let opened = OpenedMedia(
        format: WireFormat(sample: .int16, sampleRate: 44_100, positions: [0, 1]), codec: "X", sourceSampleRate: 44_100
    ).bytes

    private static func message(_ kind: WireMessage, _ body: [UInt8]) -> [UInt8] {
        kind.header(count: body.count) + body
    }

    /// A decoder over a program that says these bytes, over and over if it `repeats`, and then ends or `hangs`.
    private func decoder(
        _ bytes: [UInt8], hangs: Bool = false, repeats: [UInt8] = []
    ) throws -> (decoder: ChildDecoder, pidFile: String) {
        let said = folder.write(bytes, "said")
        let more = folder.write(repeats, "more")
        let pidFile = folder.path + "/pid"
        let program = folder.write(
            Array(
                """
                #!/bin/bash
                echo $$ > \(pidFile)
                /bin/cat \(said) >&4
                \(repeats.isEmpty ? "" : "while /bin/cat \(more) >&4; do :; done")
                \(hangs ? "/bin/sleep 60 & wait" : "")
                """.utf8), "child")
        chmod(program, 0o700)
        let file = open(said, O_RDONLY)
        defer { close(file) }
        return (try ChildDecoder(file: file, program: program, patience: 2), pidFile)
    }

    private func failure(_ bytes: [UInt8], hangs: Bool = false, repeats: [UInt8] = []) throws -> DecodingError? {
        let (decoder, _) = try decoder(bytes, hangs: hangs, repeats: repeats)
        do throws(DecodingError) {
            try decoder.awaitOpening()
            let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 8192, alignment: 16)
            defer { room.deallocate() }
            for _ in 0..<200 where try decoder.read(into: room) == 0 { return nil }
            return nil
        } catch {
            return error
        }
    }

    @Test("one that ends without a word, before and after it opened the file")
    func crashes() throws {
        #expect(try failure([])?.message.contains("ended unexpectedly") == true)
        #expect(try failure(Self.message(.opened, Self.opened))?.message.contains("ended unexpectedly") == true)
        let half = Self.message(.opened, Self.opened) + WireMessage.audio.header(count: 4000) + [1, 2, 3, 4]
        #expect(try failure(half)?.message.contains("ended unexpectedly") == true)
    }

    @Test("one that says nothing")
    func hangs() throws {
        #expect(try failure([], hangs: true)?.message.contains("does not answer") == true)
    }

    @Test(
        "one that says what can't be",
        arguments: [
            [99, 0, 0, 0, 0, 0, 0, 0], [16, 0, 0, 0, 255, 255, 255, 255], [17, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0],
            [16, 0, 0, 0, 1, 0, 0, 0, 7], [20, 0, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0],
        ] as [[UInt8]])
    func lies(_ bytes: [UInt8]) throws {
        #expect(try failure(bytes, hangs: true)?.kind == .broken)
    }

    @Test("one that lies after it opened the file")
    func lateLies() throws {
        let start = Self.message(.opened, Self.opened)
        let lies: [[UInt8]] = [
            WireMessage.audio.header(count: 0), WireMessage.audio.header(count: 3),
            WireMessage.audio.header(count: WireMessage.maximumAudioBytes + 4), Self.message(.opened, Self.opened),
            Self.message(.seeked, WireSeek(number: 1, frame: 0).bytes), Self.message(.metadata, [200]),
        ]
        for lie in lies { #expect(try failure(start + lie, hangs: true)?.kind == .broken) }
    }

    @Test("one that floods is read as fast as is wanted, and ends with its decoder")
    func floods() throws {
        let audio = Self.message(.audio, [UInt8](repeating: 1, count: 40_000))
        let pidFile: String
        do {
            let (decoder, file) = try decoder(Self.message(.opened, Self.opened), repeats: audio)
            pidFile = file
            try decoder.awaitOpening()
            #expect(try readFrames(decoder, frames: 100_000).count == 400_000)
        }
        let text = try #require(try? String(contentsOfFile: pidFile, encoding: .utf8))
        let pid = try #require(pid_t(text.split(separator: "\n").first ?? ""))
        // It is killed before its decoder is gone, and reaped soon after.
        for _ in 0..<500 where kill(pid, 0) == 0 { usleep(10_000) }
        #expect(kill(pid, 0) != 0)
    }

    @Test("one that says more of itself than anybody reads is ended")
    func floodsOfTags() throws {
        let tags = Self.message(.metadata, WireTag.bytes([WireTag("TITLE", "x".utf8)]))
        let start = Self.message(.opened, Self.opened)
        #expect(try failure(start, repeats: tags)?.message.contains("too much metadata") == true)
    }

    @Test("one that is asked for another place and goes on where it was is ended")
    func floodsAfterSeek() throws {
        var opened = try OpenedMedia(Self.opened)
        opened.isSeekable = true
        let audio = Self.message(.audio, [UInt8](repeating: 1, count: 200_000))
        let (decoder, _) = try decoder(Self.message(.opened, opened.bytes), repeats: audio)
        try decoder.awaitOpening()
        try decoder.seek(toFrame: 7)
        let error = #expect(throws: (any Error).self) { try readFrames(decoder, frames: 1) }
        #expect("\(error.map { "\($0)" } ?? "")".contains("instead of the position"))
    }
}
