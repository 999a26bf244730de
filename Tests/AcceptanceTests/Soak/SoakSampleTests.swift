import Testing

/// Judgement of a soak's samples, with invented samples.
@Suite struct SoakSampleTests {
    private static let allowed = SoakSample.Allowance(memory: 400)

    private static func sample(
        _ descriptors: Int = 44, kinds: [String: Int] = [:], threads: Int = 3, children: Int = 0, memory: Int = 4000,
        share: Int = 8000, moved: [String] = []
    ) -> SoakSample {
        let daemon = ProcessFigures(
            descriptors: descriptors, kinds: kinds, threads: threads, children: children, memory: memory,
            proportional: share)
        let bridge = ProcessFigures(descriptors: 24, threads: 1, memory: 750, proportional: 5700)
        return SoakSample(
            tracks: 7, events: 9, seconds: 1, played: 1, figures: [("daemon", daemon), ("hooks", bridge)], moved: moved,
            wakeups: 1)
    }

    private static func found(_ samples: [SoakSample]) -> [String] { SoakSample.growth(of: samples, allowing: allowed) }

    /// Nine samples, the last three of which are these.
    private static func ending(_ last: SoakSample...) -> [SoakSample] {
        (0..<6).map { _ in sample() } + last
    }

    @Test("what stays, or was more while it got warm, is no growth; nor is one sample with more shared pages")
    func steady() {
        #expect(Self.found((0..<9).map { _ in Self.sample() }) == [])
        let warm = (0..<3).map { _ in Self.sample(50, threads: 9, children: 2, memory: 9000, share: 20000) }
        #expect(Self.found(warm + (0..<6).map { _ in Self.sample() }) == [])
        #expect(Self.found(Self.ending(Self.sample(memory: 4400), Self.sample(share: 12000), Self.sample())) == [])
        #expect(Self.found([Self.sample(), Self.sample()]) == [])
    }

    @Test("one descriptor, thread or child more is named, with its kind") func more() {
        let before = (0..<6).map { _ in Self.sample(44, kinds: ["eventfd": 4, "socket": 40]) }
        let after = [45, 44, 45].map { Self.sample($0, kinds: ["eventfd": $0 - 40, "socket": 40]) }
        #expect(Self.found(before + after) == ["daemon has 45 descriptors, not 44; eventfd 5, not 4"])
        #expect(
            Self.found(Self.ending(Self.sample(), Self.sample(threads: 4), Self.sample()))
                == ["daemon has 4 threads, not 3"])
        #expect(
            Self.found(Self.ending(Self.sample(), Self.sample(), Self.sample(children: 1)))
                == ["daemon has 1 children, not 0"])
        let allowed = SoakSample.Allowance(memory: 400, descriptors: 1)
        #expect(SoakSample.growth(of: before + after, allowing: allowed) == [])
    }

    @Test("memory beyond what is allowed is named: its own by the most, its share by the median") func memory() {
        #expect(
            Self.found(Self.ending(Self.sample(memory: 4401), Self.sample(), Self.sample()))
                == ["daemon has 4401 KiB of its own, not 4000"])
        #expect(
            Self.found(Self.ending(Self.sample(share: 8801), Self.sample(), Self.sample(share: 8801)))
                == ["daemon has 8801 KiB by its share, not 8000"])
        #expect(Self.found(Self.ending(Self.sample(share: 8800), Self.sample(), Self.sample(share: 8800))) == [])
    }

    @Test("activity at rest is reported, also in few samples, and of all thirds the last two are compared")
    func motion() {
        #expect(
            Self.found([Self.sample(moved: ["decode +2", "artwork is gone"])])
                == ["at rest after 7 items the daemon moves: decode +2, artwork is gone"])
        // Eight samples: the last two and the two before them.
        let samples = [60, 60, 60, 60, 44, 44, 44, 45].map { Self.sample($0) }
        #expect(Self.found(samples) == ["daemon has 45 descriptors, not 44"])
    }
}
