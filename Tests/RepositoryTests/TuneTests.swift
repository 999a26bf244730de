import Testing

/// The tune that `make run` plays without a file.
@Suite struct TuneTests {
    @Test func isACorrectWaveFileOfAtMostTenSeconds() throws {
        let folder = try Scratch()
        let run = try ScriptRun(
            ["awk", "-f", ScriptRun.root + "/Scripts/tune.awk"], environment: ["LC_ALL": "C"], in: folder)
        #expect(run.status == 0 && run.errors.isEmpty)
        let bytes = run.output
        func number(_ at: Int, _ count: Int) -> Int {
            bytes[at..<(at + count)].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        func name(_ at: Int) -> String { String(decoding: bytes[at..<(at + 4)], as: UTF8.self) }
        try #require(bytes.count > 44)
        #expect(name(0) == "RIFF" && number(4, 4) == bytes.count - 8 && name(8) == "WAVE")
        var chunks: [String: Range<Int>] = [:]
        var at = 12
        while at + 8 <= bytes.count {
            let end = at + 8 + number(at + 4, 4)
            chunks[name(at)] = (at + 8)..<end
            at = end + end % 2
        }
        #expect(at == bytes.count)
        let format = try #require(chunks["fmt "])
        #expect(number(format.lowerBound + 2, 2) == 2 && number(format.lowerBound + 4, 4) == 44100)
        let data = try #require(chunks["data"])
        #expect(data.count % 4 == 0)
        #expect(data.count <= 10 * 44100 * 4)
        let samples = stride(from: data.lowerBound, to: data.upperBound, by: 2).map {
            Int16(truncatingIfNeeded: number($0, 2))
        }
        let loudest = samples.map(\.magnitude).max() ?? 0
        #expect(loudest > 8_000 && loudest < 32_000)
        #expect(samples.suffix(2).allSatisfy { $0.magnitude < 16 })
        let info = try #require(chunks["LIST"])
        #expect(String(decoding: bytes[info], as: UTF8.self).contains("Hello from nowplayingd\0"))
    }
}
