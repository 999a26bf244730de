import BridgeRuntime
import ControlProtocol
import NowPlayingClient
import Testing

@testable import MPRISBridge

/// Signals of positions: only if the clients' extrapolation is wrong.
@Suite struct PositionTests {
    /// The signalled positions for these states, each at its instant.
    private static func signalled(_ states: [(at: Double, state: StateView)]) -> [Double?] {
        var model = PositionModel(states[0].state, at: Sample.second(states[0].at))
        return states.dropFirst().map { model.follow($0.state, at: Sample.second($0.at)) }
    }

    @Test func aSeekIsTold() {
        let start = (0.0, Sample.state())
        #expect(Self.signalled([start, (9, Sample.state("seek", elapsed: 60, at: 9))]) == [60])
        #expect(Self.signalled([start, (9, Sample.state("seek", "paused", elapsed: 60, rate: 0, at: 9))]) == [60])
        // To where it is: it was asked for.
        #expect(Self.signalled([start, (9, Sample.state("seek", elapsed: 9, at: 9))]) == [9])
        let missed: JSONValue = ["causes": ["volume", "seek"]]
        #expect(Self.signalled([start, (9, Sample.state("volume", elapsed: 60, at: 9, changes: missed))]) == [60])
    }

    @Test func whatEverybodyComputesIsNot() {
        let states = [
            (0.0, Sample.state()), (9.002, Sample.state("pause", "paused", elapsed: 9, rate: 0, at: 9)),
            (20, Sample.state("volume", "paused", elapsed: 9, rate: 0, at: 9)),
            (30, Sample.state("play", elapsed: 9, at: 30.01)), (40, Sample.state("drift", elapsed: 19.003, at: 40)),
            (50, Sample.state("stop", "stopped", elapsed: 0, rate: 0, at: 50)),
            (60, Sample.state("play", elapsed: 0, at: 60)), (70, Sample.state("stop", "stopped", rate: 0, id: nil)),
        ]
        #expect(Self.signalled(states) == [nil, nil, nil, nil, nil, nil, nil])
    }

    @Test func aTrackThatBeginsAtItsBeginningIsNot() {
        let start = (0.0, Sample.state())
        #expect(Self.signalled([start, (200.3, Sample.state("track", elapsed: 0, at: 200, id: 13))]) == [nil])
        // Heard of late, it has gone on meanwhile.
        #expect(Self.signalled([start, (230, Sample.state("track", elapsed: 0, at: 200, id: 13))]) == [nil])
        #expect(Self.signalled([start, (9, Sample.state("play", elapsed: 60, at: 9, id: 13))]) == [60])
    }

    @Test func theSameTrackFromItsBeginningIs() {
        let start = (0.0, Sample.state())
        #expect(Self.signalled([start, (200, Sample.state("track", elapsed: 0, at: 200, item: ["play": 2]))]) == [0])
        #expect(Self.signalled([start, (50, Sample.state("track", elapsed: 0, at: 50))]) == [0])
    }

    @Test func smallErrorsAddUp() {
        var states = [(at: 0.0, state: Sample.state())]
        for second in 1...4 {
            let time = Double(second)
            states.append((time, Sample.state("drift", elapsed: time * 0.96, at: time)))
        }
        #expect(Self.signalled(states) == [nil, nil, 2.88, nil])
    }

    @Test func aStallThatWasNoticedLate() {
        let states = [
            (0.0, Sample.state()), (9.0, Sample.state("stall", "stalled", elapsed: 8, rate: 0, at: 9)),
            (30, Sample.state("unstall", elapsed: 8, at: 30)),
        ]
        #expect(Self.signalled(states) == [8, nil])
    }

    @Test func ratesCount() {
        let states = [
            (0.0, Sample.state(rate: 2)), (10, Sample.state("volume", elapsed: 0, rate: 2)),
            (20, Sample.state("rate", elapsed: 40, rate: 1, at: 20)), (30, Sample.state("volume", elapsed: 40, at: 20)),
        ]
        #expect(Self.signalled(states) == [nil, nil, nil])
    }
}
