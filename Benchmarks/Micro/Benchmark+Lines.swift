import ControlProtocol
import NowPlaying
import Sessions

/// Lines of the socket.
extension Benchmark {
    static let lines: [Benchmark] = [
        reading("line.play", #"{"jsonrpc":"2.0","id":7,"method":"play"}"#),
        reading(
            "line.add",
            #"{"jsonrpc":"2.0","id":8,"method":"queue.add","params":{"items":["/srv/music/a/01 One.flac"],"next":true}}"#
        ),
        Benchmark(name: "state.encode") {
            let encoder = StateEncoder(bootID: "8a4f5f0e-3f0a-4b57-8f2c-1a2b3c4d5e6f")
            var state = Self.state
            return { count in
                var bytes = 0
                for _ in 0..<count {
                    state.sequence += 1
                    bytes += encoder.encode(state).count
                }
                return bytes
            }
        },
    ]

    /// Reading, looking up and judging a line.
    private static func reading(_ name: String, _ text: String) -> Benchmark {
        Benchmark(name: name) {
            let bytes = Array(text.utf8)
            return { count in
                var accepted = 0
                for _ in 0..<count {
                    guard case .single(.request(let request)) = bytes.withUnsafeBytes({ RPCLine.read($0) }),
                        let method = Catalogue.method(request.method), (try? method.check(request.parameters)) != nil
                    else { continue }
                    accepted += 1
                }
                return accepted
            }
        }
    }

    private static var state: NowPlayingState {
        var state = NowPlayingState(
            anchor: PlaybackAnchor(
                elapsed: 83.204512, rate: 1, skew: 0.000041, monotonic: MonotonicTime(nanoseconds: 8_123_456_789_012),
                wall: 1_795_168_800.123457))
        state.instance = "0123456789abcdef"
        state.cause = .track
        state.reason = .ended
        state.state = .playing
        state.by = Originator(client: "nowplayingctl", pid: 812, uid: 1000)
        return state
    }
}
