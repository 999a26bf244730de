import ControlProtocol
import Glibc
import TestSupport

/// Months of an owner's use of a box: lists play one after the other, and clients make requests at random moments. The
/// programs' use of the system is measured at each rest.
final class Soak {
    /// Length and conditions of the run.
    struct Plan {
        /// Items that are to begin; nil: as many as do.
        var tracks: Int?
        /// Duration in seconds of the tester's clock.
        var seconds: Double?
        /// Speed factor of the daemon's clocks.
        var pace: Int
        /// Maximum seconds of the tester's clock between two requests.
        var moment: Double
        /// Items between two measurements at rest, or seconds between them if the time ends the run.
        var interval: Double
        /// Seconds by which a position may be off.
        var tolerance: Double
        /// Seconds of silence, at most, in which a stream of another format begins or a stall is noticed.
        var gap: Double
        /// Seconds of the tester's clock in which nothing may move before it counts as rest, and those of rest that are judged.
        var quiet = 2.0
        var rest = 1.0
        /// Names of the requests; empty: all.
        var deeds: Set<String> = []
    }

    let household: SoakHousehold
    let plan: Plan
    /// The client for requests.
    let client: Client
    /// The client that follows all sessions.
    let watcher: Client
    let library: SoakLibrary
    var numbers = SeededRandom(seed: 10)
    var check: EventCheck
    var guests = SoakGuests()
    /// Number of each action.
    private(set) var deeds: [String: Int] = [:]
    private(set) var samples: [SoakSample] = []
    /// Items that began, and the seconds of the daemon's clock in which they played.
    private(set) var tracks = 0
    private(set) var faults: [String] = []
    /// Invalid events, each with the events before it.
    private(set) var complaints: [String] = []
    /// The last events, for the search for a fault.
    private var history: [String] = []
    /// The last published state of `main`.
    private(set) var state: JSONValue = .null
    private let begin = now()
    /// The waits for a processor up to the last event.
    private var waits = ProcessorWaits(of: [])
    private var isQuiet = false

    init(_ household: SoakHousehold, _ library: SoakLibrary, _ plan: Plan) {
        self.household = household
        self.library = library
        self.plan = plan
        client = household.daemon.connect()
        watcher = household.daemon.connect()
        check = EventCheck(tolerance: plan.tolerance, gap: plan.gap)
        watcher.call("nowPlaying.subscribe", ["session": "*"])
    }

    func chance(_ count: Int) -> Int { Int.random(in: 0..<max(1, count), using: &numbers) }

    /// Lets so many moments go by, at most.
    func linger(_ moments: Double = 1) { usleep(UInt32(chance(Int(moments * plan.moment * 1_000_000)))) }

    // MARK: Course

    /// Runs to the end of the plan.
    func run() {
        // Descriptors that its first request makes are there from the first look on.
        client.call("diagnostics.get")
        loadList()
        var next = plan.interval
        while !isOver, faults.isEmpty {
            guard let event = nextEvent() else { break }
            // The others are those of `loadList` and `stop`.
            if event["session"] == "main", event["cause"] == "stop",
                ["ended", "next", "error"].contains(event["reason"]?.stringValue)
            {
                loadList()
            } else if event["session"] == "main", event["stall"]?["reason"] == "mediaGone" {
                // A busy machine did not open it in the time that a disk gets.
                note("given up")
                ask("nextTrack")
            } else if event["session"] == "main", event["cause"] == "track", chance(3) > 0 {
                doSomething()
            }
            if progress >= next {
                next += plan.interval
                rest()
                loadList()
            }
        }
        rest()
    }

    /// Items, or seconds.
    private var progress: Double { plan.tracks == nil ? now() - begin : Double(tracks) }

    private var isOver: Bool { progress >= plan.tracks.map(Double.init) ?? plan.seconds ?? 0 }

    /// The next media: by turns a folder, a list of each kind, and files.
    private func loadList() {
        client.call("queue.clear")
        let list = library.list(&numbers)
        guard client.call("queue.add", ["items": list, "play": true]) != nil else {
            faults.append("a list could not be played: \(list)")
            return
        }
        note("list loaded")
        learnOrder()
    }

    /// Reads the order of the queue.
    func learnOrder() {
        let list = client.call("queue.list", ["session": "main", "limit": 1000])
        check.order = list?["items"]?.arrayValue?.compactMap { $0["id"]?.integerValue } ?? []
        check.version = list?["version"]?.integerValue ?? -1
    }

    private func nextEvent() -> JSONValue? {
        let event = watcher.event()
        guard event != .null else {
            let last = client.call("nowPlaying.get", ["session": "main"]) ?? .null
            faults.append("no more events; main is \(JSONWriter.text(last)) after \(history)")
            return nil
        }
        take(event)
        return event
    }

    private func take(_ event: JSONValue) {
        let known = check.complaints.count
        let waits = ProcessorWaits(of: [household.daemon.process.pid], withChildren: true)
        check.take(event, waited: waits.seconds(since: self.waits) * Double(plan.pace))
        self.waits = waits
        complaints += check.complaints[known...].map { "\($0) after \(history.joined(separator: " | "))" }
        let session = event["session"] == "main" ? "" : "\(event["session"]?.stringValue ?? ""): "
        remember("\(session)\(event.words) \(event.playing) \(event.itemID ?? 0) at \(event.elapsed)")
        guard event["session"] == "main" else { return }
        state = event
        if event["cause"] == "track" { tracks += 1 }
    }

    /// Takes note of something that was done.
    func note(_ deed: String) {
        deeds[deed, default: 0] += 1
        remember(deed)
    }

    private func remember(_ line: String) {
        history.append(line)
        if history.count > 30 { history.removeFirst() }
    }

    // MARK: At rest

    /// Ends playback and other clients, empties the queue, waits for rest, and measures.
    private func rest() {
        guests.leave()
        client.call("stop", ["session": "main"])
        // Files that were handed over are open as long as they are in the queue.
        client.call("queue.clear")
        watcher.call("hello")
        for event in watcher.takeNotifications() { take(event) }
        let daemon = household.daemon
        let wakeups = ProcessFigures(daemon.process.pid, withMemory: false).wakeups
        guard let moved = motionAtRest() else { return }
        samples.append(
            SoakSample(
                tracks: tracks, events: check.count, seconds: now() - begin,
                played: (now() - begin) * Double(plan.pace),
                figures: household.processes.map { ($0.name, ProcessFigures($0.process.pid)) },
                moved: moved, wakeups: wakeups))
    }

    /// Records a fault that makes further work useless.
    func fault(_ words: String) { faults.append(words) }
}
