import AudioCore
import NowPlaying
import TestSupport
import Testing

@testable import PulseOutput

@Suite struct RawTimingTests {
    private let epoch = MonotonicTime(nanoseconds: 5_000_000_000)

    private func reading(_ raw: RawTiming, corked: Bool = false, suspended: Bool = false) -> StreamTiming {
        raw.reading(.compactDisc, isCorked: corked, isSuspended: suspended, time: epoch, roundTrip: 0.001)
    }

    @Test("playing, all but what is on its way in the device is heard") func playing() {
        let raw = RawTiming(
            readIndex: 4 * 88200, deviceMicroseconds: 500_000, playing: true, sinceUnderrun: 4 * 88200)
        let timing = reading(raw)
        #expect(timing.audibleFrame == 66150)
        #expect(timing.takenFrame == 88200)
        #expect(timing.isPlaying && timing.latency == 0.5 && timing.time == epoch)
    }

    @Test("before the first sound the position is negative") func notAudibleYet() {
        let raw = RawTiming(readIndex: 4 * 4410, deviceMicroseconds: 300_000, playing: true, sinceUnderrun: 4 * 4410)
        #expect(reading(raw).audibleFrame == -8820)
    }

    @Test("corked or suspended, the device's delay does not count") func corked() {
        let raw = RawTiming(readIndex: 4 * 88200, deviceMicroseconds: 1_800_000, playing: false, sinceUnderrun: 0)
        #expect(reading(raw, corked: true).audibleFrame == 88200)
        #expect(reading(raw, suspended: true).audibleFrame == 88200)
        #expect(!reading(raw, corked: true).isPlaying)
    }

    @Test("in an underrun the way fills with silence until all is heard") func underrun() {
        var raw = RawTiming(readIndex: 4 * 88200, deviceMicroseconds: 500_000, playing: false, sinceUnderrun: 0)
        #expect(reading(raw).audibleFrame == 66150)
        #expect(reading(raw).isPlaying)
        raw.sinceUnderrun = 4 * 11025
        #expect(reading(raw).audibleFrame == 77175)
        raw.sinceUnderrun = 4 * 44100
        #expect(reading(raw).audibleFrame == 88200)
        #expect(!reading(raw).isPlaying)
    }

    @Test("absurd numbers of servers are nothing") func absurd() {
        let delay = RawTiming(
            readIndex: 400, deviceMicroseconds: UInt64.max - 20, playing: true, sinceUnderrun: UInt64.max)
        #expect(reading(delay).audibleFrame == 100)
        #expect(reading(delay).latency == 0)
        let unknown = RawTiming(readIndex: 400, deviceMicroseconds: 50_000, playing: false, sinceUnderrun: UInt64.max)
        #expect(reading(unknown).audibleFrame == 100)
    }
}

@Suite struct RewindKnowledgeTests {
    private func timing(_ seconds: Double, audible: Double, taken: Int64, playing: Bool = true) -> StreamTiming {
        StreamTiming(
            time: MonotonicTime(nanoseconds: Int64(seconds * 1e9)), audibleFrame: audible, takenFrame: taken,
            isPlaying: playing, latency: Double(taken) / 1000 - audible / 1000, roundTrip: 0)
    }

    @Test(
        "the driver's word",
        arguments: [
            ("module-alsa-card.c", "", true), ("../src/modules/alsa/module-alsa-sink.c", "", true),
            ("module-null-sink.c", "sink_name=a", true), ("module-null-sink.c", "sink_name=a norewinds=1", false),
            ("module-null-sink.c", "norewinds=yes", false), ("module-null-sink.c", "norewinds=0", true),
            ("module-pipe-sink.c", "", false), ("module-tunnel.c", "", false),
            ("module-bluez5-device.c", "", false), ("module-combine-sink.c", "", false), ("PipeWire", "", false),
            ("", "", false),
        ] as [(String, String, Bool)])
    func driver(_ driver: String, _ arguments: String, _ expected: Bool) {
        var knowledge = RewindKnowledge(isPipeWire: false)
        knowledge.setDevice(driver: driver, arguments: arguments)
        #expect(knowledge.canRewind == expected)
        var fixed = RewindKnowledge(isPipeWire: true)
        fixed.setDevice(driver: driver, arguments: arguments)
        #expect(!fixed.canRewind)
    }

    @Test("a cork that takes back, or does not, corrects it") func corks() {
        var knowledge = RewindKnowledge(isPipeWire: false)
        knowledge.setDevice(driver: "module-pipe-sink.c", arguments: "")
        knowledge.observe(timing(1, audible: 1000, taken: 2000), isCorked: false, sampleRate: 1000)
        knowledge.observe(timing(1.1, audible: 1100, taken: 1100, playing: false), isCorked: true, sampleRate: 1000)
        #expect(knowledge.canRewind)
        knowledge.observe(timing(2, audible: 1500, taken: 2500), isCorked: false, sampleRate: 1000)
        knowledge.observe(timing(2.1, audible: 2500, taken: 2500, playing: false), isCorked: true, sampleRate: 1000)
        #expect(!knowledge.canRewind)
    }

    @Test("short latencies and PipeWire prove nothing") func nothing() {
        var knowledge = RewindKnowledge(isPipeWire: false)
        knowledge.observe(timing(1, audible: 1000, taken: 1050), isCorked: false, sampleRate: 1000)
        knowledge.observe(timing(1.1, audible: 1500, taken: 1500, playing: false), isCorked: true, sampleRate: 1000)
        #expect(knowledge.canRewind)
        var fixed = RewindKnowledge(isPipeWire: true)
        fixed.observe(timing(1, audible: 1000, taken: 2000), isCorked: false, sampleRate: 1000)
        fixed.observe(timing(1.1, audible: 1100, taken: 1100, playing: false), isCorked: true, sampleRate: 1000)
        #expect(!fixed.canRewind)
    }
}

@Suite struct StreamBufferingTests {
    @Test("eight seconds or 4 MiB, two seconds or half of it in the device, two refills the rest")
    func lengths() {
        let disc = StreamBuffering(.compactDisc)
        #expect(disc.target == 8 * 44100 && disc.deviceLatency == 2 * 44100 && disc.refill == 3 * 44100)
        #expect(disc.prebuffer == 11025)
        let wide = AudioFormat(sampleFormat: .float32, sampleRate: 384_000, channelCount: 8)
        let short = StreamBuffering(wide)
        #expect(short.target == 131_072 && short.deviceLatency == 65536 && short.refill == 32768)
        #expect(short.prebuffer > 0 && short.prebuffer < short.target)
    }

    @Test("a queue that cannot have eight seconds lasts until the answer to the latest request")
    func longest() {
        for rate in [8000, 44_100, 48_000, 88_200, 96_000, 176_400, 192_000, 384_000] {
            for (form, channels) in SampleFormat.allCases.flatMap({ form in (1...8).map { (form, $0) } }) {
                let format = AudioFormat(sampleFormat: form, sampleRate: rate, channelCount: channels)
                let given = StreamBuffering(format)
                let bytes = Int64(format.bytesPerFrame)
                #expect(given.length * bytes <= 4 << 20 && given.target <= given.length, "\(format): \(given)")
                // The server has the device take what is left after two refills.
                #expect(abs(given.length - 2 * given.refill - given.deviceLatency) <= 1, "\(format): \(given)")
                guard given.target < given.length else { continue }
                #expect(given.length < 8 * rate, "\(format): \(given)")
                // The device may take any part of its latency at once: the queue is not empty at a request.
                let request = given.refill + (64 << 10) / bytes
                let (least, step) = (given.deviceLatency / 20, rate / 1000)
                for part in stride(from: least, through: given.deviceLatency, by: step) {
                    #expect((request + part - 1) / part * part < given.target, "\(format): \(given), \(part)")
                }
            }
        }
    }

    @Test("what the daemon keeps of music of 24 bit", arguments: [(96_000, 3700), (192_000, 4000)])
    func kept(rate: Int, kibibytes: Int64) {
        let format = AudioFormat(sampleFormat: .int24, sampleRate: rate, channelCount: 2)
        let given = StreamBuffering(format)
        #expect((given.target + given.deviceLatency + given.spare) * Int64(format.bytesPerFrame) <= kibibytes << 10)
        // An idle device has two seconds of silence, and takes back as many as it may take ahead.
        #expect(given.deviceLatency == min(2 * rate, Int(given.length) / 2))
    }
}

@Suite struct PulseTextTests {
    @Test("server's text is one clean line of limited length") func clean() {
        #expect(cleanText("a\u{1b}[31m\nb\u{202e}c\0") == "a [31m b c ")
        #expect(cleanText(String(repeating: "x", count: 5000)).count == 512)
        let broken: [CChar] = [0x61, -1, 0x62, 0]
        #expect(broken.withUnsafeBufferPointer { cleanText($0.baseAddress) } == "a\u{fffd}b")
        #expect(cleanText(nil as UnsafePointer<CChar>?) == "")
    }

    @Test("volumes come back as they were set, in percent") func volume() {
        for percent in 0...100 {
            let value = Double(percent) / 100
            #expect(PulseVolume.value(PulseVolume.raw(value)) == value)
        }
        #expect(PulseVolume.value(98304) == 1)
        #expect(PulseVolume.raw(-1) == 0 && PulseVolume.raw(7) == 65536)
        #expect(abs(PulseVolume.value(12345) - 0.18837) < 0.0001)
    }

    @Test("changes of our own are no news, those of others are") func volumeControl() {
        let control = VolumeControl()
        #expect(control.reported(65536, muted: false)?.volume == 1)
        control.wish(0.5, muted: false)
        control.sent()
        #expect(control.reported(65536, muted: false) == nil)
        control.acknowledged()
        #expect(control.reported(32768, muted: false) == nil)
        #expect(control.reported(32768, muted: true)?.muted == true)
        #expect(control.wishedMuted == true && control.wishedVolume == 0.5)
    }
}
