import ControlProtocol
import Glibc
import NowPlaying
import NowPlayingClient

extension Chapters {
    /// Chapters of an item, and scanning while a seek button is held down.
    static let verbs = [
        Verb(
            name: "chapters", aliases: ["chapter"], synopsis: "[NUMBER | next | previous]",
            summary: "show the chapters of the item, or go to one",
            details:
                "A star marks the current one. Chapters come from the file's tags or from the client that added the item. "
                + "With the setting skip-by = chapters, skip moves by chapters.",
            examples: [
                ("chapters", "list them"), ("chapters 3", "go to the third"), ("chapters next", "go to the next"),
                ("chapters previous", "go to the start of this one, or to the one before"),
            ], arity: 0...1, run: Chapters.run),
        Verb(
            name: "scan", synopsis: "[SECONDS]", summary: "hold the seek button down",
            details:
                "Plays pieces of the item at 2, 4 and then 8 times the speed, for this many seconds or until Ctrl-C; "
                + "then playback resumes from there.",
            options: [Option("--back", "backward")],
            examples: [("scan 5", "forward for five seconds"), ("scan --back", "back until Ctrl-C")], arity: 0...1,
            run: Chapters.scan),
    ]
}

/// `chapters` and `scan`.
enum Chapters {
    private struct Chapter {
        var start: Double
        var title: String?
    }

    /// Shows the chapters, or seeks to one of them. Throws if there are none, or if this one is missing.
    static func run(_ run: Invocation) throws(Failure) {
        let state = try run.state()
        guard let id = state.itemID else {
            throw Failure(.nothingPlaying, "no current item, so there are no chapters")
        }
        let chapters = try list(run, id)
        let present = state.item?["chapterIndex"]?.integerValue.map { Int($0) }
        guard let word = run.words.first?.text else {
            if run.wantsJSON {
                return run.printJSON(try run.call("queue.get", ["id": .integer(id)])["chapters"] ?? [])
            }
            for (index, chapter) in chapters.enumerated() {
                let mark = index == present ? "*" : " "
                run.output.line(
                    "\(mark) \(index + 1)  \(ClockText.clock(chapter.start))  \(chapter.title ?? "Chapter \(index + 1)")"
                )
            }
            return
        }
        guard !chapters.isEmpty else { throw Failure(.noSuchContent, "this item has no chapters") }
        let position: Double
        switch word.lowercased() {
        case "next":
            guard let present = present.map({ $0 + 1 }) ?? chapters.indices.first, present < chapters.count else {
                throw Failure(.noSuchContent, "this is the last chapter; next goes to the next item")
            }
            position = chapters[present].start
        case "previous", "prev":
            let now = state.position(at: MonotonicTime.now) ?? 0
            position = chapters.last { $0.start <= now - 3 }?.start ?? 0
        default:
            guard let number = ClockText.integer(word), (1...chapters.count).contains(number) else {
                throw run.wrong("chapters", word, "a number from 1 to \(chapters.count), next or previous")
            }
            position = chapters[number - 1].start
        }
        // The guard is needed as the position was computed for this item.
        try run.perform("changePlaybackPosition", ["position": .number(position), "itemId": .integer(id)])
    }

    /// All chapters of an item: a state has the first fifty at most.
    private static func list(_ run: Invocation, _ id: Int64) throws(Failure) -> [Chapter] {
        let item = try run.call("queue.get", ["id": .integer(id)])
        return (item["chapters"]?.arrayValue ?? []).compactMap { chapter in
            chapter["start"]?.doubleValue.map {
                Chapter(start: $0, title: chapter["title"]?.stringValue.map { TerminalText.safe($0) })
            }
        }
    }

    /// `scan`: scans while this program runs.
    static func scan(_ run: Invocation) throws(Failure) {
        var seconds: Double?
        if let text = run.words.first?.text {
            guard let time = ClockText.seconds(text), time > 0, time <= 3600 else {
                throw run.wrong("scan", text, "seconds such as 5, at most an hour")
            }
            seconds = time
        }
        let method = run.has("--back") ? "seekBackward" : "seekForward"
        let begun = try run.call(method, ["phase": "begin"])
        // Ctrl-C ends the connection, and the daemon ends the scan with it.
        if let seconds { usleep(UInt32(clamping: seconds * 1_000_000)) } else { pause() }
        let result = try run.call(method, ["phase": "end"])
        if run.wantsJSON { run.printJSON(result == .null ? begun : result) }
    }
}

extension StatusText {
    /// `chapter 3 of 12: Title`; nil: the item has no chapters.
    static func chapter(_ state: StateView) -> String? {
        guard let index = state.item?["chapterIndex"]?.integerValue else { return nil }
        let chapters = state.item?["chapters"]
        let count = chapters?.arrayValue.map { Int64($0.count) } ?? chapters?["count"]?.integerValue ?? 0
        var text = "chapter \(index + 1) of \(count)"
        if let list = chapters?.arrayValue, index < list.count, let title = list[Int(index)]["title"]?.stringValue {
            text += ": " + TerminalText.safe(title)
        }
        return text
    }

    /// Text about the playing advertisement; nil: there is none.
    static func advertisement(_ state: StateView) -> String? {
        guard let ad = state.json["ad"], ad != .null else { return nil }
        guard let ends = ad["endsMonotonic"]?.doubleValue else { return "advertisement" }
        let left = max(0, ends - MonotonicTime.now.seconds)
        return "advertisement, \(ClockText.clock(left))"
    }
}
