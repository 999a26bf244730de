import AudioCore
import LinuxSystem
import NowPlaying

/// Plays announcements, one after the other. A decode thread of their own, which ends with the last of them, decodes them,
/// and a stream of their own plays them: the music changes only in volume.
@PlayerLoop final class Announcer {
    /// Display name of the interruption.
    private static let name = "announcement"
    /// Maximum number of waiting announcements.
    static let queueLimit = 32
    /// Seconds that a sound server has to answer.
    private static let serverPatience = 1.0
    /// Seconds that an announcement may take beyond its duration, for late frames.
    private static let spare = 10.0
    /// Seconds that are decoded before an announcement begins.
    private static let prefill = 0.3
    /// Seconds after the last announcement in which the next one can use its thread and stream; then they are released.
    private static let restAfter = 0.5

    private struct Waiting {
        var announcement: Announcement
        var answer: AnnouncementAnswer
    }

    /// The announcement that is being opened or plays.
    private final class Current {
        let announcement: Announcement
        let answer: AnnouncementAnswer
        /// Result of the decode thread; nil until then.
        var opened: OpenedItem?
        /// True if the awaited number of frames is decoded.
        var isFilled = false
        /// Ring frame after its last one; nil: more follow.
        var ringEnd: Int64?
        /// Nil until the source is open and the sound server is connected.
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
    /// Abandoned threads that have not ended: they hang in a read.
    private var hung: [DecodeThread] = []
    private var run = 0
    /// Set while the sound server is awaited.
    private var awaitsServer = false
    /// Deadline of the current announcement.
    private var deadline: EventSource?

    /// Maximum number of seconds from opening a source to its first frames.
    private let sourcePatience: Double

    /// Announcer of this player. `sourcePatience`: maximum number of seconds from opening a source to its first frames.
    init(_ player: Player, sourcePatience: Double = 30) {
        self.player = player
        self.sourcePatience = sourcePatience
    }

    /// True while an announcement plays or waits.
    var isBusy: Bool { current != nil || !waiting.isEmpty }

    /// Plays an announcement in its turn: by priority, then in the order of arrival.
    func add(_ announcement: Announcement, _ answer: @escaping AnnouncementAnswer) {
        guard waiting.count < Self.queueLimit else { return answer(.failure(.tooMany(limit: Self.queueLimit))) }
        let index = waiting.firstIndex { $0.announcement.priority < announcement.priority } ?? waiting.count
        waiting.insert(Waiting(announcement: announcement, answer: answer), at: index)
        beginNext()
    }

    /// Handles a sound server that is connected (nil), missing or lost; without a server no announcement waits.
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
        // Its source is opened while the server connects.
        awaitsServer = !player.output.isConnected
        guard awaitsServer else { return limitSource() }
        limit(Self.serverPatience) { [unowned self] in giveUp("the sound server does not answer") }
        player.output.connect()
    }

    private func limitSource() {
        limit(sourcePatience) { [unowned self] in sourceIsLate() }
    }

    /// Gives up a source without frames. A loop that is late reads the waiting reports of the thread first.
    private func sourceIsLate() {
        takeReports()
        // A report ended this announcement: the present deadline belongs to the next one, or to the rest.
        guard let current, deadline == nil else { return }
        guard !current.isFilled, current.ringEnd == nil else {
            return limit(Self.serverPatience) { [unowned self] in giveUp("the sound server does not answer") }
        }
        fail("nothing came of it for \(Int(clamping: sourcePatience)) seconds")
    }

    private func limit(_ seconds: Double, _ passed: @escaping @PlayerLoop () -> Void) {
        deadline = player.loop.deadline(EventLoop.now.advanced(bySeconds: seconds)) { [unowned self] in
            deadline = nil
            passed()
        }
    }

    /// Restores the music, as no announcement waits. Releases the thread and stream unless another announcement follows at
    /// once.
    private func rest() {
        deadline = nil
        decoder?.end()
        decoder = nil
        limit(Self.restAfter) { [unowned self] in
            ProgramPages.giveBackHeap()
            ProgramPages.keepNoLonger()
            player.loop.giveBackPages()
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
            case .failed(let ticket, _, let error, let wasAudible):
                if ticket == run, !wasAudible { fail(error.message, isAnswered: true) }
            case .away(let ticket, let error), .lost(let ticket, let error):
                if ticket == run { fail(error.message, isAnswered: true) }
            case .drained: current?.playback?.framesCame()
            case .measured, .described, .regained, .lookedAround: break
            }
            if self.decoder !== decoder { return }
        }
    }

    /// Plays the announcement as soon as its source and the server are ready.
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
                yieldPlayer(for: current.announcement)
                limit(current.announcement.limit + Self.spare) { [unowned self] in
                    end(.failure(.noDevice("the announcement did not finish in time: the sound device has stalled")))
                }
            },
            onEnd: { [unowned self] result in end(result) },
            onLoss: { [unowned self] error in giveUp(error.message) })
        guard self.current === current else { return }
        if let end = current.ringEnd { playback.ends(at: end) } else if current.isFilled { playback.framesCame() }
    }

    private func yieldPlayer(for announcement: Announcement) {
        let yielding = player.yielding(to: announcement.policy, decibels: announcement.duckTo)
        player.yield(to: Self.name, yielding, over: announcement.attack)
        player.listeners.onAnnouncement?(announcement)
    }

    private func factor(of announcement: Announcement) -> Double {
        let volume = announcement.volume ?? player.volume.level
        return volume * volume * volume
    }

    // MARK: The end

    /// `isAnswered`: the thread reported the failure and does not hang.
    private func fail(_ message: String, isAnswered: Bool = false) {
        guard let current else { return }
        end(.failure(.undecodable(uri: current.announcement.source.uri, message: message)), isAnswered: isAnswered)
    }

    /// Gives up the decode thread. It ends when its wait is cancelled; a thread that hangs in a read ends later.
    private func giveUpThread() {
        guard let thread = decoder else { return }
        decoder = nil
        hung.append(thread)
        thread.end { [weak self, unowned thread] in self?.hung.removeAll { $0 === thread } }
    }

    /// Fails this announcement and all waiting ones, as nothing can play.
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
        // Between two announcements the music stays quiet.
        if waiting.isEmpty {
            player.yield(to: Self.name, nil, over: ended.announcement.release)
            player.listeners.onAnnouncement?(nil)
        }
        beginNext()
        ended.answer(result)
    }
}
