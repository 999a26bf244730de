import ControlProtocol
import Glibc
import LinuxSystem
import Synchronization
import TestSupport
import Testing

extension Acceptance {
    /// Servers that behave badly, in all pairs of their properties: sound, published states and loaded bytes.
    @Suite(.timeLimit(.minutes(60)), .enabled(if: RealDaemon.hasDecodeProgram, "nowplaying-decode is not built"))
    struct BadServerTests {
        init() { LoopThread.start() }

        @Test("the table has each pair of values, and the pairs that no server has are listed with their reason")
        func table() {
            let possible = Set(BadServerRow.possible.flatMap(\.pairs))
            let impossible = Set(BadServerRow.cross.flatMap(\.pairs)).subtracting(possible)
            #expect(Set(impossible.map(\.description)) == Set(BadServerRow.impossiblePairs.keys))
            #expect(Set(BadServerRow.covering.flatMap(\.pairs)) == possible)
            #expect((50...70).contains(BadServerRow.covering.count), "\(BadServerRow.covering.count) rows")
        }

        @Test("each row plays, publishes and loads as expected") func rows() async throws {
            let material = try BadServerMaterial()
            let redirector = try await Redirector.start()
            let rows = environmentHas("NOWPLAYING_NIGHTLY") ? BadServerRow.possible : BadServerRow.covering
            let work = BadServerWork(rows, material, redirector)
            let server = await SoundServer.pulseAudio((0..<Self.rowsAtOnce).map(BadServerLane.sink))
            await withTaskGroup { group in
                for number in 0..<Self.rowsAtOnce {
                    group.addTask {
                        let lane = await BadServerLane.start(server, number)
                        await work.run(on: lane)
                        lane.recorder.stop()
                    }
                }
            }
            server.stop()
            for fault in work.faults { Issue.record(Comment(rawValue: fault)) }
        }

        /// Most rows only wait for a server.
        private static let rowsAtOnce = 24
    }
}

/// Rows that wait for a lane, and the faults of those that were played.
private final class BadServerWork: Sendable {
    private let material: BadServerMaterial
    private let redirector: Redirector
    private let left: Mutex<ArraySlice<BadServerRow>>
    private let found = Mutex<[String]>([])

    /// These rows; those that wait long begin first.
    init(_ rows: [BadServerRow], _ material: BadServerMaterial, _ redirector: Redirector) {
        (self.material, self.redirector) = (material, redirector)
        left = Mutex(rows.sorted { $0.patience > $1.patience }[...])
    }

    /// Faults so far, in the order of the rows.
    var faults: [String] { found.withLock { $0.sorted() } }

    /// Plays one row after the other on a lane.
    func run(on lane: BadServerLane) async {
        await withCheckedContinuation { done in
            let started = DetachedThread.start("row", stackBytes: 2 << 20) { [self] in
                while let row = left.withLock({ $0.popFirst() }) {
                    let outcome = BadServerRun(row, material, redirector, lane).outcome
                    let faults = row.faults(of: outcome, material)
                    found.withLock { $0 += faults.map { "\(row.testDescription): \($0)\n\(outcome)" } }
                }
                done.resume()
            }
            precondition(started, "no thread for a row")
        }
    }
}

extension BadServerRow {
    /// Seconds that it waits, about.
    fileprivate var patience: Int {
        switch trouble {
        case .silence: 15
        case .notFound: 10
        case .drop, .redirects, .restart: 0
        }
    }
}
