import AudioCore
import DaemonRuntime
import LinuxSystem
import NowPlaying
import PlaybackEngine
import StateKeeping

/// Pure parts of the player.
extension Benchmark {
    /// Where a frame of the stream stands in an item, with a few items in the stream.
    static let timeline = Benchmark(name: "timeline.place") {
        var timeline = Timeline()
        for item in 1...4 {
            timeline.append(
                Timeline.Segment(
                    streamStart: Int64(item * 44100), itemStart: 0, item: ItemID(Int64(item)), ticket: item))
        }
        let made = timeline
        return { count in
            var sum = 0.0
            for turn in 0..<count { sum += made.position(at: Double(44100 + turn % 170_000))?.itemFrame ?? 0 }
            return Int(sum)
        }
    }

    /// The next item and back.
    static let transport = Benchmark(name: "transport.next") {
        var transport = Transport()
        _ = transport.insert(entries(1...1000), at: 0)
        _ = try? transport.play()
        let made = transport
        return { count in
            var transport = made
            var effects = 0
            for _ in 0..<count {
                effects += (try? transport.next().count) ?? 0
                effects += (try? transport.previous(elapsed: 0).count) ?? 0
            }
            return effects
        }
    }

    /// How the cost of an edit grows with the queue, and of writing it down.
    static let queues: [Benchmark] =
        [10, 10_000, 1_000_000].flatMap { size in
            [
                Benchmark(name: "queue.edit@\(size)") {
                    var queue = Self.queue(size)
                    let one = entries(2_000_000...2_000_000)
                    return { count in
                        for _ in 0..<count {
                            queue.insert(one, at: size / 2)
                            queue.remove([ItemID(2_000_000)])
                        }
                        return queue.count
                    }
                },
                Benchmark(name: "queue.move@\(size)") {
                    var queue = Self.queue(size)
                    return { count in
                        for turn in 0..<count { queue.move([ItemID(Int64(turn % 9) + 1)], to: size / 2) }
                        return queue.count
                    }
                },
                Benchmark(name: "queue.next@\(size)") {
                    let queue = Self.queue(size)
                    return { count in
                        var sum = 0
                        for turn in 0..<count {
                            sum += Int(queue.next(after: ItemID(Int64(turn % size) + 1))?.number ?? 0)
                        }
                        return sum
                    }
                },
            ]
        }
        + [
            Benchmark(name: "state.save") {
                let edit = QueueEdit.insert(EntryList(entries(1...1)), at: 0)
                return { count in
                    var bytes = 0
                    for _ in 0..<count { bytes += EditCoding.encode(edit).count }
                    return bytes
                }
            }
        ]

    private static func queue(_ size: Int) -> PlayQueue {
        var queue = PlayQueue()
        queue.insert(entries(1...Int64(size)), at: 0)
        return queue
    }

    private static func entries(_ numbers: ClosedRange<Int64>) -> [QueueEntry] {
        numbers.map { QueueEntry(id: ItemID($0), source: .file("/srv/music/Artist/Album/01 Title.flac")) }
    }
}
