import AudioCore
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import PlaybackEngine

/// Histories on an output that mixes for a room, which hears everything late: each state agrees with the frames that the room
/// hears while it is the last one.
@Suite struct RoomHistoryTests {
    /// Seconds of the room's buffer.
    private static let delays = [0.0, 0.2, 0.35, 1, 1.8, 2, 3, 5, 10]
    private static let serverDelays = [0.98, 0.58, 1.98]

    @Test("each state is what the room hears, for any requests at any times") func drawnHistories() async {
        await compare(delays: Self.delays)
    }

    @Test("a server that is late for each connection: each state is what the room hears") func lateServer() async {
        await compare(delays: Self.serverDelays) { loop, delay, seed in
            ServedRoomSink(loop, delay: delay, seed: seed, stops: nil)
        }
    }

    @Test(
        "a server that stands now and then: each state is what the room hears",
        arguments: [0.021...0.06, 0.06...0.35])
    func standingServer(stops: ClosedRange<Double>) async {
        await compare(delays: Self.serverDelays) { loop, delay, seed in
            ServedRoomSink(loop, delay: delay, seed: seed, stops: stops)
        }
    }

    @Test("items of another format follow each other: each state is what the room hears") func formats() async {
        // Two equal channels are one, bit for bit.
        let stereo = AudioFormat(sampleFormat: .int32, sampleRate: RoomSink.room.sampleRate, channelCount: 2)
        await compare(delays: Self.delays, formats: [RoomSink.room.audioFormat, stereo])
    }

    private func compare(
        delays: [Double], formats: [AudioFormat] = [RoomSink.room.audioFormat],
        sink: @escaping @PlayerLoop @Sendable (EventLoop, Double, UInt64) -> any RoomOutput = { loop, delay, _ in
            RoomSink(loop, delay: delay)
        }
    ) async {
        let drawn = DrawnHistories(usual: 200, nightly: 200)
        let counts = await drawn.run { seed in
            let history = RoomHistory(seed: seed, delay: delays[Int(seed) % delays.count], formats: formats) {
                sink($0, $1, seed)
            }
            return (history.run(), [history.compared, history.pending])
        }
        let (compared, pending) = (counts[0], counts[1])
        print("\(compared) instants compared, \(pending) pending changes")
        #expect(compared > 20 * drawn.count && pending > drawn.count)
    }

    /// Commands of these seeds overtake a change of which the output has mixed frames, or mixes some until theirs are decoded.
    @Test(
        "a command that overtakes a begun change: the room hears that change, too",
        arguments: [1781, 2240] as [UInt64])
    func overtaken(seed: UInt64) async {
        let complaints = await LoopThread.run { () -> [String] in
            RoomHistory(seed: seed, delay: Self.delays[Int(seed) % Self.delays.count]).run()
        }
        #expect(complaints == [], "\(complaints.joined(separator: "\n"))")
    }

    @Test("a command that overtakes a begun change of a server that is late") func overtakenLate() async {
        let complaints = await LoopThread.run { () -> [String] in
            let seed: UInt64 = 704
            let history = RoomHistory(seed: seed, delay: Self.serverDelays[Int(seed) % 3]) {
                ServedRoomSink($0, delay: $1, seed: seed, stops: nil)
            }
            return history.run()
        }
        #expect(complaints == [], "\(complaints.joined(separator: "\n"))")
    }

    @Test("a pause rests at the frame that the room hears last", arguments: delays) func pause(delay: Double) async {
        let complaints = await LoopThread.run { () -> [String] in
            let history = RoomHistory(seed: 1, delay: delay)
            return history.run { world in
                for _ in 0..<4 {
                    world.run(seconds: delay + 1 + world.moment(2))
                    world.order(.pause)
                    world.run(seconds: world.moment(2 * delay + 1))
                    world.order(.play(position: nil))
                }
            }
        }
        #expect(complaints == [], "\(complaints.joined(separator: "\n"))")
    }
}
