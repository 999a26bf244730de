import AudioCore
import AudioDecoders
import ChildDecoding
import Glibc
import TestSupport
import Testing

/// Children that lie about pictures: each is an error in words.
@Suite(.serialized) struct PictureLieTests {
    private let folder = TemporaryFolder()

    private static func message(_ kind: WireMessage, _ body: [UInt8]) -> [UInt8] {
        kind.header(count: body.count) + body
    }

    private static func picture(_ count: Int) -> [UInt8] {
        message(.picture, WirePicture(kindNumber: 0, count: count).bytes)
    }

    /// Result of a program that sends these bytes.
    private func outcome(_ bytes: [UInt8]) throws -> Result<[[UInt8]], DecodingError> {
        let said = folder.write(bytes, "said")
        let program = folder.write(Array("#!/bin/bash\n/bin/cat \(said) >&4\n".utf8), "child")
        chmod(program, 0o700)
        let file = open(said, O_RDONLY)
        defer { close(file) }
        return Result { () throws(DecodingError) in try PictureFetch(program: program).embedded(file: file) }
    }

    private func words(_ bytes: [UInt8]) throws -> String {
        switch try outcome(bytes) {
        case .success(let pictures): "\(pictures.count) pictures"
        case .failure(let error): error.message
        }
    }

    @Test func whatIsAsAgreed() throws {
        let end = Self.message(.end, [])
        let two = Self.picture(3) + Self.message(.piece, [1, 2]) + Self.message(.piece, [3]) + Self.picture(1)
        #expect(try outcome(two + Self.message(.piece, [4]) + end).get() == [[1, 2, 3], [4]])
        #expect(try outcome(end).get().isEmpty)
        let failed = Self.message(.failed, WireFailure(.unavailable, "its server denies access (403)").bytes)
        #expect(try words(failed) == "its server denies access (403)")
    }

    @Test func liesAreErrors() throws {
        let end = Self.message(.end, [])
        let piece = Self.message(.piece, [1, 2, 3])
        #expect(try words([]).contains("ended unexpectedly"))
        #expect(try words(Self.picture(3) + piece).contains("ended unexpectedly"))
        #expect(try words(piece + end).contains("a picture larger than announced"))
        #expect(try words(Self.picture(2) + piece).contains("a picture larger than announced"))
        #expect(try words(Self.picture(4) + piece + end).contains("an incomplete picture"))
        #expect(try words(Self.picture(4) + piece + Self.picture(1)).contains("too many pictures"))
        #expect(try words(Self.picture(3) + Self.message(.piece, []) + end).contains("larger than announced"))
        let five = (0..<5).flatMap { _ in Self.picture(3) + piece }
        #expect(try words(five + end).contains("too many pictures"))
        // Two that are allowed alone.
        let half = WirePicture.maximumBytes / 2 + 1
        #expect(try words(Self.picture(half) + Self.picture(half)).contains("too many pictures"))
        for count in [0, WirePicture.maximumBytes + 1] {
            #expect(try words(Self.picture(count)).contains("a picture of \(count) bytes"))
        }
        #expect(try words(Self.message(.opened, [0])).contains("an unexpected message"))
        #expect(try words(WireMessage.audio.header(count: 4) + [0, 0, 0, 0]).contains("audio instead of pictures"))
        #expect(try words(WireMessage.piece.header(count: 1 << 20)).contains("a message of 1048576 bytes"))
        #expect(try words([255, 0, 0, 0, 0, 0, 0, 0]).contains("unknown kind"))
    }
}
