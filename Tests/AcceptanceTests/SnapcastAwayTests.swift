import ControlProtocol
import Glibc
import NowPlaying
import TestSupport
import Testing

extension Acceptance {
    /// A real Snapcast server on another host: a network namespace whose clock was started at another time.
    @Suite(.timeLimit(.minutes(8))) struct SnapcastAwayTests {
        @Test("the position is as near to the rooms as the state says, by the clock of the server") func position()
            async throws
        {
            guard let away = await NetworkNamespace.make() else {
                print("NOT TESTED: another host, as no network namespace can be made here")
                return
            }
            let folder = TemporaryFolder()
            let server = await Snapserver.start(in: folder, away: away)
            let house = await SnapcastHouse.start(folder, server)
            let listener = SnapcastListener(host: server.host, lead: away.lead)
            house.client.call("play", ["uri": house.code("a.wav", seconds: 900)])
            _ = house.client.event("play")
            #expect(
                becomes { house.client.call("nowPlaying.get")?["output"]?["uncertainty"]?.doubleValue != nil },
                "the server was never asked for its clock")
            var errors = PositionErrors()
            var uncertainties: [Double] = []
            for round in 0..<repetitions(4, nightly: 50) {
                usleep(2_500_000)
                let state = try #require(house.client.call("nowPlaying.get"))
                let now = Double(MonotonicTime.now.nanoseconds) / 1e9
                // The changes are read after the chunks, so that they name each change among these.
                let heard = listener.heard
                // A server that reads late changes its times by itself; it is asked for them within 16 s.
                guard listener.changes.allSatisfy({ $0 < now - 18 }) else {
                    print("NOT TESTED: a server on another host, as it changed its times by itself")
                    continue
                }
                let uncertainty = try #require(state["output"]?["uncertainty"]?.doubleValue)
                uncertainties.append(uncertainty)
                for chunk in heard where chunk.time >= max(now - 1, state.monotonic) {
                    guard let frame = chunk.frame else { continue }
                    let error = state.position(at: chunk.time) - Double(frame) / SnapcastHouse.rate
                    errors.add(error, "in round \(round) at \(chunk.time)")
                    #expect(abs(error) <= uncertainty, "\(error) s, not \(uncertainty) s")
                }
            }
            print("a server elsewhere: \(errors.words), uncertainty \(uncertainties.max() ?? .nan) s at most")
            #expect(uncertainties.allSatisfy { $0 > 0 }, "\(uncertainties)")
            #expect(house.daemon.stop() == 0)
            listener.end()
        }
    }
}
