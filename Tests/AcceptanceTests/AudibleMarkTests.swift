import ControlProtocol
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

extension Acceptance {
    /// Advertisements, chapters and the held seek button, against the recording of the sound.
    @Suite(.timeLimit(.minutes(5))) struct AudibleMarkTests {
        private static let rate = 44_100.0
        /// Maximum error in seconds of the recorder's time of a frame.
        private static let noise = 0.02

        /// True if a state matches the sound: this advertisement or none, and the chapter at this position of the content.
        private static func agrees(_ state: JSONValue, _ ad: Int?, _ position: Double, _ chapters: [Double]) -> Bool {
            guard state["ad"]?["index"]?.integerValue == ad.map({ Int64($0) }) else { return false }
            guard ad == nil else { return state.rate == 0 }
            let chapter = chapters.lastIndex { $0 <= position }.map { Int64($0) }
            return state.rate == 1 && state["item"]?["chapterIndex"]?.integerValue == chapter
        }

        @Test(
            "the anchor stands exactly while an advertisement is heard, chapters begin when they are heard, and scanning is true"
        )
        func heard() async throws {
            let place = await RecordedSink.start(TestSink("marks"))
            let client = place.follow()
            let folder = place.daemon.folder
            let isLong = environmentHas("NOWPLAYING_NIGHTLY")
            let ranges = [AdTimeRange(start: 0.5, duration: 0.7), AdTimeRange(start: 1.6, duration: 0.4)]
            let chapters = [0, 0.7, 0.9, 1.1]
            let begin = place.waits()
            client.call(
                "queue.add",
                [
                    "items": [
                        [
                            "uri": .string(folder.codeFLAC("a.flac", from: 0, count: 44_100 * 3)),
                            "adTimeRanges": .array(
                                ranges.map { ["start": .number($0.start), "duration": .number($0.duration)] }),
                            "chapters": .array(chapters.map { ["start": .number($0)] }),
                        ],
                        .string(folder.codeFLAC("b.flac", from: 44_100 * 3, count: 44_100 * 120)),
                    ], "play": true,
                ])
            await place.recorder.heard(frame: 44_100 * 4)
            // The button is held over 2 and 4 times the speed, at night over 8 times too, and then backward.
            client.call("seekForward", ["phase": "begin"])
            await place.recorder.waitFor(more: isLong ? 6 : 2.8)
            #expect(client.call("seekForward", ["phase": "end"])?.rate == 1)
            await place.recorder.waitFor(more: 0.3)
            if isLong {
                client.call("seekBackward", ["phase": "begin"])
                await place.recorder.waitFor(more: 5)
                client.call("seekBackward", ["phase": "end"])
                await place.recorder.waitFor(more: 0.3)
            }
            client.call("stop")
            let runs = await place.runs()
            client.call("nowPlaying.get")
            let states = client.takeNotifications()
            let content = ContentTime(ranges)
            // The sound may be late by the time in which no thread had a processor.
            let noise = Self.noise + place.waits().seconds(since: begin)
            var worst = (marks: 0.0, scan: 0.0)
            var looks = (marks: 0, ads: 0, scan: 0)
            for run in runs {
                for frame in stride(from: 32, to: run.count - 32, by: 220) {
                    let time = place.time(run.recorded + frame)
                    // An event is announced with the instant at which it is heard, which is known to the noise: the state on
                    // either side of that instant may be the one.
                    let near = states.indices.filter { index in
                        let isOver = index + 1 < states.count && states[index + 1].monotonic < time - noise
                        return states[index].monotonic <= time + noise && !isOver
                    }.map { states[$0] }
                    guard let state = near.last(where: { $0.monotonic <= time }) else { continue }
                    let media = Double(run.frame + frame) / Self.rate
                    if media < 3 {
                        let ad = content.range(atMedia: media)
                        let errors = near.filter { Self.agrees($0, ad, content.content(ofMedia: media), chapters) }
                            .map { abs($0.position(at: time) - content.content(ofMedia: media)) }
                        worst.marks = max(worst.marks, errors.min() ?? .infinity)
                        looks.marks += 1
                        if ad != nil { looks.ads += 1 }
                    } else if abs(state.rate) > 1 {
                        worst.scan = max(worst.scan, abs(state.position(at: time) - (media - 3)))
                        looks.scan += 1
                    }
                }
            }
            #expect(worst.marks < noise, "\(worst.marks)")
            #expect(worst.scan < 0.23 + noise, "\(worst.scan)")
            #expect(looks.marks > 300 && looks.ads > 100 && looks.scan > 200, "\(looks)")
            #expect(states.filter { $0.words == "ad-began" }.count == 2)
            #expect(states.filter { $0.words == "ad-ended" }.count == 2)
            if environmentHas("NOWPLAYING_FIGURES") {
                print("marks \(worst.marks * 1000) ms, scan \(worst.scan) s, \(looks)")
            }
        }
    }
}
