import Testing

@testable import ChildDecoding

/// Fingerprints of streams: a file begins alike at the next connection, a station does not.
@Suite struct StreamBeginningTests {
    private static func beginning(_ count: Int, seed: UInt8 = 0, piece: Int = 700) -> StreamBeginning {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 251) &+ seed }
        var result = StreamBeginning()
        for start in stride(from: 0, to: count, by: piece) {
            bytes[start..<min(count, start + piece)].withUnsafeBytes { result.take($0) }
        }
        return result
    }

    @Test(
        "pieces of any size give the same fingerprint; bytes after 64 KiB do not count",
        arguments: [1, 7, 1023, 1024, 5000])
    func pieces(_ size: Int) {
        #expect(Self.beginning(20_000, piece: size).compared(with: Self.beginning(20_000)) == .same)
        #expect(Self.beginning(100_000, piece: size) == Self.beginning(200_000))
    }

    @Test("the first block that differs decides; too few bytes leave it open")
    func comparison() throws {
        let whole = Self.beginning(1 << 16)
        #expect(Self.beginning(1023).compared(with: whole) == .open)
        #expect(Self.beginning(65_535).compared(with: whole) == .open)
        #expect(Self.beginning(65_536).compared(with: whole) == .same)
        #expect(Self.beginning(1024, seed: 1).compared(with: whole) == .different)
        // A short file.
        #expect(Self.beginning(5000).compared(with: Self.beginning(5000)) == .same)
        // Nothing is known of a stream of less than a block.
        #expect(Self.beginning(1 << 16).compared(with: Self.beginning(1000)) == .open)
        let read = try StreamBeginning(whole.bytes)
        #expect(whole.compared(with: read) == .same)
        #expect(throws: WireError.self) { _ = try StreamBeginning([65]) }
        #expect(throws: WireError.self) { _ = try StreamBeginning([1, 0]) }
    }

    @Test("a request carries the fingerprint")
    func request() throws {
        var request = OpenRequest()
        request.address = "http://x.test/"
        #expect(try OpenRequest(request.bytes) == request)
        request.beginning = try StreamBeginning(Self.beginning(9000).bytes)
        #expect(try OpenRequest(request.bytes) == request)
    }
}
