import AudioCore
import LinuxSystem
import NowPlaying

/// Has announcements heard, one after the other: each is decoded on a thread of its own, which ends with the last of them,
/// and played on a stream of its own, so that nothing of the music is touched but how loud it is.
@PlayerLoop final class Announcer {
    /// What we are called where we interrupt.
    private static let name = "announcement"
    /// Announcements that may wait.
    static let queueLimit = 32
    /// Seconds that a sound server has to answer.
    private static let serverPatience = 1.0
    /// Seconds that one may take longer than its own length, for what is late in it.
    private static let spare = 10.0
    /// Seconds that are decoded before it begins.
    private static let prefill = 0.3
    /// Seconds after the last one in which the next takes up what this one took; then it is given back.
    private static let restAfter = 0.5

    private struct Waiting {
        var announcement: Announcement
        var answer: AnnouncementAnswer
    }

    /// The one that is being opened or heard.
    private final class Current {
        let announcement: Announcement
        let answer: AnnouncementAnswer
        /// What the decode thread found; nil until then.
        var opened: OpenedItem?
        /// Whether as much is decoded as is waited for.
        var isFilled = false
        /// Ring frame behind its last one; nil while more comes.
        var ringEnd: Int64?
        /// Nil until it is opened and the sound server is there.
        var playback: AnnouncementPlayback?

        init(_ waiting: Waiting) {
            announcement = waiting.announcement
            answer = waiting.answer
        }
    }

    private unowned let player: Player
    private var waiting: [Waiting] = []
    private var current: Current?
    private var decoder: DecodeThread?
    /// Threads that were given up and have not ended: they hang in a read.
    private var hung: [DecodeThread] = []
    private var run = 0
    /// Set while the sound server is awaited.
    private var awaitsServer = false
    /// When the present one is given up.
    private var deadline: EventSource?

    /// Seconds from asking for the source to its first frames, at most.
    private let sourcePatience: Double

    /// An announcer beside this player. `sourcePatience`: seconds from asking for a source to its first frames, at most.
    init(_ player: Player, sourcePatience: Double = 30) {
        self.player = player
        self.sourcePatience = sourcePatience
    }

    /// Whether one is heard or waits.
    var isBusy: Bool { current != nil || !waiting.isEmpty }

    /// Has it heard when its turn comes: that of the highest priority first, then that which came first.
    func add(_ announcement: Announcement, _ answer: @escaping AnnouncementAnswer) {
        guard waiting.count < Self.queueLimit else { return answer(.failure(.tooMany(limit: Self.queueLimit))) }
        let place = waiting.firstIndex { $0.announcement.priority < announcement.priority } ?? waiting.count
        waiting.insert(Waiting(announcement: announcement, answer: answer), at: place)
        beginNext()
    }

    /// The sound server is there (nil), or is not, or is gone: then nothing waits for it till morning.
    func serverChanged(_ error: OutputError?) {
        guard isBusy else { return }
        if let error { return giveUp(error.message) }
        guard awaitsServer else { return }
        awaitsServer = false
        limitSource()
        play()
    }

    /// Ends silently; for the end of the process.
    func shutDown() {
        deadline = nil
        decoder?.end()
        current?.playback?.close()
    }

    private func beginNext() {
        guard current == nil else { return }
        guard !waiting.isEmpty else { return rest() }
        let next = Current(waiting.removeFirst())
        current = next
        guard decoder != nil || hung.count < ReadWatch.limit else {
            return fail("\(hung.count) announcements before it hang in a read: their disk or network does not answer")
        }
        run += 1
        decoder =
            decoder
            ?? DecodeThread(
                player.loop, open: player.parts.openDecoder, ringCapacity: player.parts.ringCapacity, rates: RateRules()
            ) { [unowned self] in takeReports() }
        guard let decoder else {
            return end(
                .failure(
                    .undecodable(
                        uri: next.announcement.source.uri, message: "the system has no more threads: end some programs")
                ))
        }
        decoder.begin(
            run: run, DecodeItem(ticket: run, id: ItemID(0), source: next.announcement.source), in: nil,
            prefill: Self.prefill)
        // Its source is opened while the server is called.
        awaitsServer = !player.output.isConnected
        guard awaitsServer else { return limitSource() }
        limit(Self.serverPatience) { [unowned self] in giveUp("the sound server does not answer") }
        player.output.connect()
    }

    private func limitSource() {
        limit(sourcePatience) { [unowned self] in
            fail("nothing came of it for \(Int(clamping: sourcePatience)) seconds")
        }
    }

    private func limit(_ seconds: Double, _ passed: @escaping @PlayerLoop () -> Void) {
        deadline = player.loop.deadline(EventLoop.now.advanced(bySeconds: seconds)) { [unowned self] in
            deadline = nil
            passed()
        }
    }

    /// Nobody waits: the music is as it was, and what it took to be heard is given back when the next does not come at once.
    private func rest() {
        deadline = nil
        decoder?.end()
        decoder = nil
        limit(Self.restAfter) {
            ProgramPages.giveBackHeap()
            ProgramPages.keepNoLonger()
            ProgramPages.giveBack()
        }
    }

    // MARK: The source

    private func takeReports() {
        guard let decoder else { return }
        for report in decoder.takeReports() {
            switch report {
            case .opened(let item):
                guard item.ticket == run else { continue }
                current?.opened = item
                play()
            case .reached(let ring, _):
                guard ring === current?.opened?.ring else { continue }
                current?.isFilled = true
                current?.playback?.framesCame()
            case .finished(let ticket, _, let end, let length):
                guard ticket == run else { continue }
                current?.ringEnd = end
                if length == 0 {
                    fail("it contains no audio", isAnswered: true)
                } else {
                    current?.playback?.ends(at: end)
                }
            case .failed(let ticket, _, let error, let heard):
                if ticket == run, !heard { fail(error.message, isAnswered: true) }
            case .away(let ticket, let error), .lost(let ticket, let error):
                if ticket == run { fail(error.message, isAnswered: true) }
            case .drained: current?.playback?.framesCame()
            case .measured, .described, .regained, .lookedAround: break
            }
            if self.decoder !== decoder { return }
        }
    }

    /// Has it heard as soon as its source and the server are there.
    private func play() {
        guard let current, let item = current.opened, !awaitsServer, current.playback == nil else { return }
        guard let decoder,
            let playback = AnnouncementPlayback(
                current.announcement, item, factor: factor(of: current.announcement), decoder: decoder)
        else { return giveUp("this output takes no announcements") }
        current.playback = playback
        playback.open(
            player.output,
            onStart: { [unowned self] in
                makeRoom(for: current.announcement)
                limit(current.announcement.limit + Self.spare) { [unowned self] in
                    end(.failure(.noDevice("it did not play to its end in time: the sound device stands still")))
                }
            },
            onEnd: { [unowned self] result in end(result) },
            onLoss: { [unowned self] error in giveUp(error.message) })
        guard self.current === current else { return }
        if let end = current.ringEnd { playback.ends(at: end) } else if current.isFilled { playback.framesCame() }
    }

    private func makeRoom(for announcement: Announcement) {
        let yielding = player.yielding(to: announcement.policy, decibels: announcement.duckTo)
        player.makeRoom(for: Self.name, yielding, over: announcement.attack)
        player.listeners.onAnnouncement?(announcement)
    }

    private func factor(of announcement: Announcement) -> Double {
        let volume = announcement.volume ?? player.volume.level
        return volume * volume * volume
    }

    // MARK: The end

    /// `isAnswered`: the thread said so itself, and does not hang.
    private func fail(_ message: String, isAnswered: Bool = false) {
        guard let current else { return }
        end(.failure(.undecodable(uri: current.announcement.source.uri, message: message)), isAnswered: isAnswered)
    }

    /// The thread ends as soon as what it waits for lets it go; what hangs in a read is not waited for.
    private func giveUpThread() {
        guard let thread = decoder else { return }
        decoder = nil
        hung.append(thread)
        thread.end { [weak self, unowned thread] in self?.hung.removeAll { $0 === thread } }
    }

    /// Nothing can be heard: neither this one nor those that wait.
    private func giveUp(_ message: String) {
        let refused = waiting
        waiting = []
        end(.failure(.noDevice(message)))
        for one in refused { one.answer(.failure(.noDevice(message))) }
    }

    private func end(_ result: Result<AnnouncementOutcome, AnnouncementRefusal>, isAnswered: Bool = false) {
        deadline = nil
        awaitsServer = false
        guard let ended = current else { return rest() }
        current = nil
        ended.playback?.close()
        if !isAnswered, ended.ringEnd == nil { giveUpThread() }
        // Between two announcements nothing gets loud for a moment.
        if waiting.isEmpty {
            player.makeRoom(for: Self.name, nil, over: ended.announcement.release)
            player.listeners.onAnnouncement?(nil)
        }
        beginNext()
        ended.answer(result)
    }
}
