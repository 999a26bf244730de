import AudioCore
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import PulseOutput

/// Wakeups of the loop's thread. Each case runs alone in a process of its own.
@Suite(.serialized, .oneAtATime, .timeLimit(.minutes(5))) struct WakeupTests {
    /// Voluntary context switches of the loop's thread so far.
    static func switches(_ thread: Int32) -> Int {
        guard let file = fopen("/proc/self/task/\(thread)/status", "r") else { return -1 }
        defer { fclose(file) }
        var text = [UInt8](repeating: 0, count: 8192)
        let status = String(decoding: text[..<fread(&text, 1, text.count, file)], as: UTF8.self)
        let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
        return line.flatMap { Int($0.split(separator: "\t").last ?? "") } ?? -1
    }

    /// Number of the calling thread.
    static func currentThread() -> Int32 {
        var target = [UInt8](repeating: 0, count: 64)
        let count = target.withUnsafeMutableBytes { readlink("/proc/thread-self", $0.baseAddress!, $0.count) }
        return Int32(String(decoding: target[..<max(0, count)], as: UTF8.self).split(separator: "/").last ?? "") ?? 0
    }

    /// A stream that plays, filled on request.
    @PlayerLoop final class Playback {
        let log = OutputLog()
        let output: PulseOutput
        let stream: any AudioStream
        let thread = WakeupTests.currentThread()

        init(_ server: SoundServer) async {
            PulseEnvironment.prepare()
            output = PulseOutput(EventLoop.current, server: server.address)
            output.delegate = log
            output.connect()
            await log.next(.connection(nil))
            log.refill = { stream in
                stream.write([Int16](repeating: 1, count: Int(stream.refillFrames) * 2))
            }
            stream = output.openStream(.compactDisc, delegate: log)
            await log.next(.ready)
            stream.write([Int16](repeating: 1, count: Int(stream.targetFrames - stream.refillFrames) * 2))
            #expect(await stream.corked(false) == nil)
            await log.next(.started)
        }

        var requests: Int { log.count(.needsFrames) }
        func pause() async { #expect(await stream.corked(true) == nil) }
        func end() { output.disconnect() }
    }

    @Test("corked, the process sleeps; playing, it wakes once a refill") func wakeups() async {
        await #expect(processExitsWith: .success) {
            LoopThread.start()
            let server = await SoundServer.pulseAudio([TestSink("s", rewinds: true)])
            // A competing client with a latency of 50 ms.
            let competitor = await LoopThread.run {
                TestProcess(
                    ["pacat", "--server=\(server.address)", "--latency-msec=50", "/dev/zero"],
                    environment: currentEnvironment())
            }
            let playback = await Playback(server)
            let thread = playback.thread
            // Its buffer is full, and the next refill is not due yet.
            #expect(standsStill { WakeupTests.switches(thread) })
            let requests = await playback.requests
            let began = WakeupTests.switches(thread)
            sleep(8)
            let playing = WakeupTests.switches(thread) - began
            let asked = await playback.requests - requests
            #expect(asked >= 1 && asked <= 4)
            #expect(playing <= 4 * asked + 4, "\(playing) wakeups for \(asked) requests")
            await playback.pause()
            #expect(standsStill { WakeupTests.switches(thread) })
            let paused = WakeupTests.switches(thread)
            sleep(4)
            #expect(WakeupTests.switches(thread) == paused)
            await playback.end()
            competitor.end()
            server.stop()
        }
    }
}
