import ControlProtocol
import Glibc
import NowPlaying
import NowPlayingClient

/// `library`: shows the state, starts a scan, and follows one by its events.
struct LibraryState {
    private let run: Invocation
    private var drawn = ""

    private init(_ run: Invocation) { self.run = run }

    /// `library`, and the verb's words after it.
    static func show(_ run: Invocation) throws(Failure) {
        let (word, argument) = (run.words.first?.text, run.words.dropFirst().first)
        if word == "update" { return try update(run, argument) }
        if run.has("--wait") { throw .usage("--wait is for library update", verb: run.verb.name) }
        if word == "loudness" { return try LoudnessMeasuring.run(run, argument) }
        guard word == nil || word == "status", argument == nil else {
            throw run.wrong(
                "library", run.words.map(\.text).joined(separator: " "),
                "status, update [FOLDER], or loudness [pause|resume]")
        }
        try status(run)
    }

    /// `library status`: on a terminal, it runs until the scan ends.
    static func status(_ run: Invocation) throws(Failure) {
        let status = try run.library("library.status")
        if run.wantsJSON { return run.printJSON(status) }
        for line in LibraryText.lines(status, run.output, now: run.wallClock) { run.output.line(line) }
        guard let scan = status["scan"], scan.objectValue != nil else { return }
        guard run.output.canRedraw else { return run.output.line(LibraryText.inProgress(scan)) }
        var state = LibraryState(run)
        let end = try state.follow(within: nil) { _ in true }
        for line in LibraryText.end(end, run.output, now: run.wallClock) { run.output.line(line) }
    }

    /// `library update` and mpc's `update`: starts a scan of a folder or of all. With `--wait` it returns after the scan and
    /// after the pass that identifies new files, which follows the scan unless the daemon plays.
    static func update(_ run: Invocation, _ folder: Word?) throws(Failure) {
        var parameters = JSONObject()
        if let folder { parameters["uri"] = .string(try Places.uri(folder, run)) }
        guard run.has("--wait") else { return try run.performLibrary("library.update", parameters) }
        let before = try run.library("library.status")["lastScan"]?["finished"]
        try run.performLibrary("library.update", parameters)
        var state = LibraryState(run)
        let end = try state.follow(within: try run.timeout()) { $0["lastScan"]?["finished"] != before }
        guard !run.wantsJSON, let last = end["lastScan"], last != .null else { return }
        let faults = last["faults"]?.integerValue ?? 0
        guard faults > 0 else { return }
        complain("\(LibraryText.count(faults, "file")) could not be read: nowplayingctl library")
    }

    /// Shows the scan until none runs and `isEnd` holds for the state. Requests the state only after an event. `seconds`:
    /// time limit.
    private mutating func follow(
        within seconds: Double?, _ isEnd: (JSONValue) -> Bool
    ) throws(Failure) -> JSONValue {
        let connection = try run.library()
        let deadline = seconds.map { MonotonicTime.now.advanced(bySeconds: $0) }
        _ = try run.library("library.subscribe")
        while true {
            let status = try run.library("library.status")
            if let scan = status["scan"], scan.objectValue != nil {
                draw(scan)
                try events(connection, deadline, seconds ?? 0)
            } else if isEnd(status) {
                erase()
                return status
            } else {
                erase()
                run.output.flush()
                try change(connection, deadline, seconds ?? 0)
            }
        }
    }

    /// Draws each event of the scan until the scan has ended.
    private mutating func events(
        _ connection: Connection, _ deadline: MonotonicTime?, _ seconds: Double
    ) throws(Failure) {
        while true {
            run.output.flush()
            guard let scan = try change(connection, deadline, seconds)["scan"], scan.objectValue != nil else { return }
            draw(scan)
        }
    }

    /// The next `library.changed`.
    @discardableResult
    private func change(
        _ connection: Connection, _ deadline: MonotonicTime?, _ seconds: Double
    ) throws(Failure) -> JSONValue {
        do {
            while true {
                var message = connection.notification()
                if message == nil {
                    guard let line = try connection.line(deadline: deadline, seconds: seconds) else {
                        throw ClientError.connectionLost
                    }
                    message = try Connection.parse(line)
                }
                if message?["method"]?.stringValue == "library.changed" { return message?["params"] ?? [:] }
            }
        } catch let error as ClientError { throw Failure(library: error) } catch { throw Failure(.general, "\(error)") }
    }

    private mutating func draw(_ scan: JSONValue) {
        guard run.output.canRedraw, !run.wantsJSON else { return }
        let text = LibraryText.moving(scan, columns: run.output.columns - 1, isUnicode: run.output.isUnicode)
        guard text != drawn else { return }
        run.output.raw("\r\(text)\u{1B}[K")
        drawn = text
    }

    private mutating func erase() {
        guard !drawn.isEmpty else { return }
        run.output.raw("\r\u{1B}[K")
        drawn = ""
    }
}
