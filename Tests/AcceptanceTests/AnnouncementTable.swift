import ControlProtocol
import NowPlaying
import TestSupport
import Testing

/// Announcements over a recorded daemon that plays the position code. The sound before, during and after each announcement
/// is judged when all of them are over.
final class AnnouncementTable {
    /// Effect on the playback.
    enum During: Equatable {
        /// It goes on at this part of its loudness.
        case plays(Double)
        case held
        /// It was silent before, and is after.
        case silent

        /// Its events, except for better readings of the clock.
        var events: [String] { self == .held ? ["interruption-began", "interruption-ended"] : [] }
    }

    /// The announcement.
    struct Words {
        var uri: JSONValue
        var seconds: Double
        /// Frames of the code that it consists of; nil: it is silence.
        var code: Range<Int>?
    }

    struct Row {
        var name: String
        var before: JSONValue
        var after: JSONValue
        var during: During
        var begin: Double
        var end: Double
        /// Frame of the code with which the file begins that plays; nil: it is heard from anywhere.
        var base: Int?
        var words: Words
        /// Volume of the announcement relative to its file; nil: it is refused.
        var volume: Double?
        /// Seconds that the daemon and the server waited for a processor meanwhile: sound and clock may be late by as much.
        var waited: Double
    }

    let client: Client
    let recorder: Recorder
    private var rows: [Row] = []
    private let rate: Double
    /// Seconds by which the recorder's idea of an instant may be off.
    private let noise: Double
    /// Tolerated seconds between two readings of the server's clock while the sound continues.
    private let step: Double
    private let waits: () -> ProcessorWaits
    /// Seconds in which it is as loud as before.
    private let release: Double

    /// Seconds of audible sound before each announcement.
    static let lead = 0.25
    /// Seconds of audible sound after the return to the earlier volume.
    static let tail = 0.15

    /// `client` follows the daemon that is recorded; `waits` reads that daemon and its server.
    init(
        _ client: Client, _ recorder: Recorder, rate: Double = 44100, noise: Double = 0.02, step: Double = 0.02,
        release: Double = 0.5, waits: @escaping () -> ProcessorWaits
    ) {
        self.client = client
        self.recorder = recorder
        self.rate = rate
        self.noise = noise
        self.step = step
        self.release = release
        self.waits = waits
    }

    /// True if the machine does nothing else.
    static var isNight: Bool { environmentHas("NOWPLAYING_NIGHTLY") }

    /// Makes an announcement, waits until all is as before, and compares the events meanwhile: these and no
    /// others but better readings of the clock, each numbered one more than the one before.
    func announce(
        _ name: String, _ words: Words, _ during: During, by terms: JSONValue = [:], base: Int? = 0,
        volume: Double = 1, refusal: String = "", meanwhile: () -> Void = {}
    ) async {
        let first = waits()
        await recorder.waitFor(more: Self.lead + 0.05)
        client.call("nowPlaying.get")
        _ = client.takeNotifications()
        guard let before = client.call("nowPlaying.get") else { return }
        var parameters = JSONObject([.init("uri", words.uri)])
        for member in terms.objectValue?.members ?? [] { parameters[member.name] = member.value }
        let begin = now()
        let sent = client.send("announce", .object(parameters))
        meanwhile()
        let answer = client.answer(sent)
        let end = now()
        let code = answer["error"]?["code"]?.integerValue.map(String.init) ?? ""
        #expect(code == refusal, "\(name): \(JSONWriter.text(answer))")
        #expect(!refusal.isEmpty || answer["result"]?["status"] == "success", "\(name)")
        if refusal.isEmpty {
            #expect(end - begin > words.seconds - 0.01, "\(name): answered before it was heard")
            let seconds = answer["result"]?["seconds"]?.doubleValue ?? 0
            if let code = words.code { #expect(abs(seconds - Double(code.count) / rate) < 1e-8, "\(name)") }
        }
        var notifications: [JSONValue] = []
        while notifications.count(where: { $0.words != "drift" }) < during.events.count, notifications.last != .null {
            notifications.append(client.event())
        }
        await recorder.waitFor(more: release + Self.tail + 0.1)
        guard let after = client.call("nowPlaying.get") else { return }
        notifications += client.takeNotifications()
        let waited = waits().seconds(since: first)
        judge(name, before, notifications, after, during, waited)
        rows.append(
            Row(
                name: name, before: before, after: after, during: during, begin: begin, end: end, base: base,
                words: words, volume: refusal.isEmpty ? volume : nil, waited: waited))
    }

    /// Checks the events and their numbers.
    private func judge(
        _ name: String, _ before: JSONValue, _ notifications: [JSONValue], _ after: JSONValue, _ during: During,
        _ waited: Double
    ) {
        #expect(notifications.map(\.words).filter { $0 != "drift" } == during.events, "\(name)")
        #expect(
            notifications.map(\.sequence) == notifications.indices.map { before.sequence + 1 + Int64($0) }, "\(name)")
        #expect(after.sequence == notifications.last?.sequence ?? before.sequence, "\(name)")
        #expect(before["queue"]?.lasting == after["queue"]?.lasting, "\(name): queue")
        for key in ["item", "repeatMode", "shuffleMode", "volume", "muted", "commandsVersion", "error"] {
            #expect(before[key] == after[key], "\(name): \(key)")
        }
        #expect(before.playing == after.playing, "\(name)")
        switch during {
        case .silent: #expect(before["anchor"] == after["anchor"], "\(name)")
        case .plays: break
        case .held:
            let changes = notifications.filter { $0.words != "drift" }
            guard changes.count == 2 else { return }
            #expect(changes[0].rate == 0 && changes[0].playing == "interrupted", "\(name)")
            #expect(changes[0]["interruption"]?["by"] == "announcement", "\(name)")
            let off = changes[1].elapsed - changes[0].elapsed
            #expect(abs(off) < 0.005 + waited, "\(name): it goes on \(off) s from where it was held")
        }
    }

    /// Judges the recording; to be called after all announcements.
    func judge() async {
        await recorder.waitFor(more: 0.3)
        recorder.stop()
        let recording = CodeRecording(recorder, rate: rate)
        for row in rows {
            AnnouncementJudge(row, recording, release: release, noise: noise, step: step).judge()
        }
    }
}
