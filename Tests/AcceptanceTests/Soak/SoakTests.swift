import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// A box that runs for months: the programs' use of the system stays constant, and the position model agrees at every
    /// event.
    @Suite struct SoakTests {
        init() { LoopThread.start() }

        /// A number that `make soak` gives.
        private static func given(_ name: String) -> Double? { currentEnvironment()[name].flatMap { Double($0) } }

        @Test(
            "in a faster world: every kind of file, and everything that people ask for",
            .enabled(if: given("NOWPLAYING_SOAK_HOURS") == nil))
        func accelerated() async throws {
            let tracks = Self.given("NOWPLAYING_SOAK_TRACKS") ?? Double(repetitions(15, nightly: 1000))
            let pace = Self.given("NOWPLAYING_SOAK_PACE") ?? 8
            let isShort = tracks < 100
            var plan = Soak.Plan(
                tracks: Int(tracks), pace: Int(pace), moment: 0.05,
                interval: isShort ? max(1, tracks / 6) : max(15, tracks / 25),
                tolerance: 0.005 * pace, gap: (isShort ? 5 : 0.5) * pace)
            if isShort { (plan.quiet, plan.rest) = (0.4, 0.4) }
            // So long by the tester's clock, at any pace.
            let lengths = (isShort ? [0.12] : [0.07, 0.12, 0.2, 0.4]).map { $0 * pace }
            try await run(nil, plan, albums: isShort ? 1 : 10, lengths)
        }

        @Test("in real time, on PulseAudio", .enabled(if: given("NOWPLAYING_SOAK_HOURS") != nil))
        func realTime() async throws {
            let seconds = (Self.given("NOWPLAYING_SOAK_HOURS") ?? 1) * 3600
            let plan = Soak.Plan(
                seconds: seconds, pace: 1, moment: 0.4, interval: max(60, seconds / 24), tolerance: 0.03, gap: 0.5,
                rest: 5)
            let server = await SoundServer.pulseAudio([TestSink("soak")])
            try await run(server, plan, albums: 10, [3, 5, 8, 12])
            server.stop()
        }

        private func run(_ server: SoundServer?, _ plan: Soak.Plan, albums: Int, _ lengths: [Double]) async throws {
            let household = await SoakHousehold.begin(server, pace: plan.pace)
            let library = try SoakLibrary(in: household.daemon.folder, albums: albums, seconds: lengths)
            var plan = plan
            let deeds = currentEnvironment()["NOWPLAYING_SOAK_DEEDS"] ?? ""
            plan.deeds = Set(deeds.split(separator: ",").map(String.init))
            let soak = Soak(household, library, plan)
            soak.run()
            report(soak)
            #expect(soak.faults == [], "\(household.log)")
            #expect(soak.complaints == [])
            #expect(soak.check.successions > 0)
            #expect(soak.check.remarks * 20 <= soak.check.count)
            // Events that corrected earlier ones: 1,450 of 24,475 with the machine alone, in real time 240 of 1,394. Sound
            // that is late because a thread had no processor does not count.
            let most = plan.tracks == nil ? 4 : 5
            #expect(
                soak.check.unexplained * most <= soak.check.count,
                "\(soak.check.unexplained) of \(soak.check.corrections) in \(soak.check.count)")
            #expect(soak.samples.count >= 6)
            // Caches of items and pictures are full after some thousand.
            var allowed = SoakSample.Allowance(memory: soak.tracks < 3000 ? 4096 : 400)
            // Of some items the last may be the first of its kind.
            if soak.tracks < 100 { (allowed.descriptors, allowed.threads) = (8, 1) }
            #expect(SoakSample.growth(of: soak.samples, allowing: allowed) == [], "\(SoakSample.rows(soak.samples))")
            #expect(household.end() == ["daemon": 0, "hooks": 0, "mpris": 0, "mqtt": 0])
        }

        /// Writes the table for `make soak`.
        private func report(_ soak: Soak) {
            guard let path = currentEnvironment()["NOWPLAYING_SOAK_REPORT"], let file = fopen(path, "w") else { return }
            defer { fclose(file) }
            let deeds = soak.deeds.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }
            let check = soak.check
            let share = 100 * Double(check.corrections) / Double(max(1, check.count))
            fputs(
                """
                \(soak.tracks) items, \(check.successions) of them at the end of the one before; \(check.count) events, \
                none left out, \(check.merged) that stand for several; \(check.complaints.count) complaints. The position \
                of an event was at most \(Campaign.text(check.greatestError * 1000)) ms off the one that the event before \
                of that instant, 99 of 100 at most \(Campaign.text(check.usualError * 1000)); \(check.corrections) \
                (\(Campaign.text(share)) %) reported that sound had come late, by \
                \(Campaign.text(check.greatestCorrection * 1000)) ms at most, \(check.unexplained) of them by more than \
                the wait for a processor. Done: \(deeds.joined(separator: ", ")).

                \(SoakSample.head(soak.household.processes.map(\.name)))
                \(SoakSample.rows(soak.samples))

                """, file)
        }
    }
}
