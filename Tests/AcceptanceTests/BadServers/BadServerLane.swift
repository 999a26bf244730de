import CLinux
import Glibc
import LinuxSystem
import Synchronization
import TestSupport

/// A null sink that is recorded, on which one row after the other plays.
struct BadServerLane: Sendable {
    let server: SoundServer
    let sink: TestSink
    let recorder: Recorder

    /// Milliseconds of the steps in which the sinks take sound: a device is ahead of what is audible by them.
    static let latency = 100

    /// The sink of a number.
    static func sink(_ number: Int) -> TestSink { TestSink("lane\(number)") }

    /// Records the sink of a number.
    static func start(_ server: SoundServer, _ number: Int) async -> BadServerLane {
        let sink = sink(number)
        return BadServerLane(
            server: server, sink: sink, recorder: await Recorder.start(server, sink, latency: latency))
    }

    /// The left channel from a frame of the recording on.
    func heard(from frame: Int) -> [Int16] {
        LeftChannel.samples(Array(recorder.bytes().dropFirst(frame * recorder.bytesPerFrame)))
    }

    /// Waits on a thread that may wait until this many seconds more are recorded.
    func wait(seconds: Double) {
        let recorder = recorder
        Blocking.run { await recorder.waitFor(more: seconds) }
    }
}

/// Waits of a thread for asynchronous work.
enum Blocking {
    private final class Box<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }

    /// Runs `body` elsewhere and returns its result.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value {
        let box = Box<Value>()
        var ends: [Int32] = [-1, -1]
        precondition(linux_pipe(&ends) == 0, "no pipe")
        let (wait, ready) = (ends[0], ends[1])
        Task {
            let result = await body()
            box.value.withLock { $0 = result }
            close(ready)
        }
        var byte: UInt8 = 0
        _ = read(wait, &byte, 1)
        close(wait)
        guard let value = box.value.withLock({ $0 }) else { preconditionFailure("a task without a result") }
        return value
    }
}
