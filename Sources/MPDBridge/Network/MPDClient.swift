import LinuxSystem
import MPDProtocol
import NowPlaying

/// One client: its rights and settings, and the order of its commands, answers and changes.
@PlayerLoop final class MPDClient {
    /// Number of the connection.
    let number: Int
    /// True if the client uses a local socket.
    let isLocal: Bool
    /// User of this machine at the other end; nil: unknown.
    let user: UInt32?
    /// Origin of the connection, for bounds.
    let source: PeerSource
    /// The present rights; a password changes them.
    private(set) var permissions: Permissions
    /// Carries out the commands, for the partition of the client.
    private(set) var performer: any CommandPerformer
    /// Parts of the protocol that the client has switched on.
    private(set) var features: Set<ProtocolFeature> = []
    /// Tags for the client's song blocks.
    private(set) var tags = TagMask.all
    /// Maximum bytes of a binary part.
    private(set) var binaryLimit = 8192
    /// Changes that were not sent to the client yet.
    private(set) var changes = PendingChanges()

    /// Unsent lines.
    private var writer = AnswerWriter()
    private let connection: ClientConnection
    private let loop: EventLoop
    private unowned let server: MPDServer
    private var conversation = Conversation()
    private var awaited: SubsystemSet = []
    private var progress = CommandProgress()
    private var stream: (any AnswerStream, Finish)?
    private var isProcessing = false
    private var willSettle = false
    /// The place of a long command, until its answer is sent but for a rest.
    private var place: LongPlace?
    /// True while a long command runs.
    private var isLong = false
    /// Memory of the client's command list.
    private let listShare: HeldShare
    /// Instant of the last line, of the end of an `idle`, or of the start. For a client without any right, the start.
    private var lastLine = EventLoop.now
    /// Instant at which the connection took the last bytes of an answer.
    private var lastSent = EventLoop.now
    /// True while the time limit for the next line applies.
    private(set) var isTimed = false {
        didSet {
            if isTimed != oldValue { isTimed ? server.patience.begin() : server.patience.end() }
        }
    }

    /// Bytes of unread answers above which the client's commands wait: with a long command, and without.
    private static let maximumLong = 64 << 10
    private static let maximumShort = 16 << 10

    /// A client, which takes ownership of the descriptor.
    init(
        _ server: MPDServer, _ loop: EventLoop, _ descriptor: Int32, number: Int, isLocal: Bool, user: UInt32?,
        _ source: PeerSource, permissions: Permissions, _ performer: any CommandPerformer
    ) {
        self.server = server
        self.performer = performer
        self.loop = loop
        self.number = number
        self.isLocal = isLocal
        self.user = user
        self.source = source
        listShare = server.memory.share(of: source)
        self.permissions = permissions
        connection = ClientConnection(descriptor)
    }

    /// Greets the client and serves it. False: the descriptor cannot be watched.
    func begin() -> Bool {
        guard connection.begin(loop, yields: !source.isOwn, { [unowned self] in happened($0) }) else { return false }
        writer.greeting(version: MPDServer.version)
        isTimed = true
        settle()
        return true
    }

    // MARK: Settings

    /// Changes the client's rights.
    func grant(_ rights: Permissions) {
        permissions = rights
        lastLine = EventLoop.now
    }

    /// Switches on these parts of the protocol, and all others off.
    func use(_ parts: Set<ProtocolFeature>) { features = parts }

    /// Chooses the tags for the client's song blocks.
    func show(_ mask: TagMask) { tags = mask }

    /// Limits binary parts to this number of bytes.
    func limitBinaryParts(to bytes: Int) { binaryLimit = bytes }

    // MARK: Changes

    /// Sends changes to the client, now or at its next `idle`.
    func note(_ changed: SubsystemSet, at now: MonotonicTime = EventLoop.now) {
        changes.note(changed)
        guard conversation.isIdle else { return }
        let taken = changes.take(awaited)
        guard !taken.isEmpty else { return }
        conversation.endIdle()
        lastLine = now
        isTimed = !connection.isGone
        if sendAtOnce(server.lines(of: taken)) { return }
        writer.changed(taken)
        settleSoon()
    }

    /// Sends lines in this turn of the loop; false: nothing is sent.
    private func sendAtOnce(_ lines: [UInt8]) -> Bool {
        guard writer.bytes.isEmpty, !isProcessing, let isWhole = connection.sendAtOnce(lines) else { return false }
        if !isWhole { settleSoon() }
        return true
    }

    /// Moves the client to another partition, in which everything may differ.
    func join(_ performer: any CommandPerformer) {
        guard performer !== self.performer else { return }
        let old = self.performer
        self.performer = performer
        server.moved(self, from: old)
        note(SubsystemSet([Subsystem.playlist, .player, .mixer, .output, .options].map(SubsystemSet.init)))
    }

    // MARK: Commands

    /// Writes a part of the running command's answer.
    func write(_ part: (inout AnswerWriter) -> Void) { part(&writer) }

    /// Memory for the running long command; free after its answer.
    func share() -> HeldShare {
        let share = server.memory.share(of: source)
        place?.keep(share)
        return share
    }

    /// Continues the long answer, as more of it is ready.
    func proceed() { settleSoon() }

    /// Answers the running command with a long answer.
    func answer(_ stream: any AnswerStream, _ finish: @escaping Finish) {
        self.stream = (stream, finish)
        settleSoon()
    }

    private func process() {
        guard !isProcessing else { return }
        isProcessing = true
        defer { isProcessing = false }
        let end = EventLoop.now.advanced(bySeconds: ClientTurns.seconds)
        while !connection.isClosed, stream == nil, unread < maximumUnread, EventLoop.now < end {
            if !progress.isOver {
                guard step() else { break }
            } else {
                guard let line = takeLine() else { break }
                if !permissions.isEmpty { lastLine = EventLoop.now }
                take(conversation.take(line, limits))
            }
        }
    }

    /// Limits of lines with the present rights.
    private var limits: LineLimits { permissions.isEmpty ? .stranger : .known }

    private func take(_ step: Conversation.Step) {
        switch step {
        case .nothing: if !listShare.hold(conversation.cost) { refuse(Conversation.tooLong) }
        case .close: close()
        case .refuse(let failure): refuse(failure)
        case .endIdle:
            isTimed = !connection.isGone
            writer.ok()
        case .run(let work): progress.begin(work, together: source.isOwn ? 8192 : 1024)
        }
    }

    /// Answers a failure and ends the connection.
    private func refuse(_ failure: MPDFailure) {
        writer.failure(failure, index: 0, command: "")
        connection.end(dropping: true)
    }

    /// Begins the next line of the list, or several of them; false: earlier lines still run.
    private func step() -> Bool {
        switch progress.step(allowed: permissions, available: performer.commands, &writer) {
        case .waits: return false
        case .over: break
        case .refused(let endsConnection): if endsConnection { connection.end(dropping: false) }
        case .one(let request) where request.command.isLong: performLong(request)
        case .one(let request):
            performer.perform(request, for: self) { [weak self] in self?.ended(request.command, $0) }
        case .several(let requests):
            performer.perform(requests, for: self) { [weak self] in self?.ended(requests.count, $0) }
        }
        return true
    }

    /// Carries out a command when there is a place for it.
    private func performLong(_ request: MPDRequest) {
        isLong = true
        if let place { return perform(request, in: place) }
        server.long.enter(source) { [weak self] place in
            guard let self, !connection.isClosed else { return }
            self.place = place
            perform(request, in: place)
        }
    }

    private func perform(_ request: MPDRequest, in place: LongPlace) {
        place.clear()
        performer.perform(request, for: self) { [weak self] outcome in
            // A command whose client has gone keeps its place as long as it runs.
            withExtendedLifetime(place) { self?.isLong = false }
            self?.ended(request.command, outcome)
        }
    }

    private func ended(_ count: Int, _ outcome: JointOutcome) {
        if progress.end(count, outcome, &writer) { settleSoon() }
    }

    private func ended(_ command: MPDCommand, _ outcome: Outcome) {
        guard progress.end(command, outcome, &writer) else { return }
        switch outcome {
        case .ok, .failed: break
        case .idles(let subsystems): idle(subsystems)
        // The bridge sends the answers before this line, and does not carry out the lines after it.
        case .closes: connection.end(dropping: true)
        }
        settleSoon()
    }

    /// Waits for changes of these subsystems, unless unsent changes exist.
    private func idle(_ subsystems: SubsystemSet) {
        awaited = subsystems
        let taken = changes.take(subsystems)
        guard taken.isEmpty else { return writer.changed(taken) }
        conversation.beginIdle()
        isTimed = false
    }

    // MARK: Turns

    private var unread: Int { writer.bytes.count + connection.unsent }

    private var maximumUnread: Int { place == nil ? Self.maximumShort : Self.maximumLong }

    private func takeLine() -> [UInt8]? {
        let line = connection.takeLine()
        guard (line?.count ?? connection.input.count) < limits.line else {
            close()
            return nil
        }
        return line
    }

    private func happened(_ event: ClientConnection.Event) {
        if event.isReadable { isBlocked ? connection.rest() : receive() }
        if event.isGone { leave() }
        // The lines of others wait for a turn, so that many of them delay nobody.
        source.isOwn ? settle() : settleSoon()
    }

    private func receive() { connection.receive(upTo: limits.line - connection.input.count) }

    private func leave() {
        connection.leave()
        isTimed = false
    }

    /// Reads the client's last bytes after it has closed its end, and ends its unread long answer.
    private func finishAlone() {
        if let (_, finish) = stream {
            stream = nil
            finish(.ok)
        }
        guard !isBlocked else { return }
        receive()
        settleSoon()
    }

    private var isBlocked: Bool {
        connection.hasEnded || !progress.isOver || connection.input.count >= limits.line
            || unread >= maximumUnread
    }

    private func settleSoon() {
        guard !isProcessing, !willSettle, !connection.isClosed else { return }
        willSettle = true
        server.turns.add(self)
    }

    /// Does the work that waits for a turn.
    func turn() {
        willSettle = false
        settle()
    }

    /// Carries out and sends as much as possible, and watches for the rest.
    private func settle() {
        guard !connection.isClosed else { return }
        process()
        if connection.isGone { finishAlone() }
        let hasMore = pull()
        let waiting = unread
        if !connection.send(writer.take()) {
            isTimed = false
            settleSoon()
        }
        if connection.isClosed { return }
        if unread < waiting { lastSent = EventLoop.now }
        if !isLong, unread <= Self.maximumShort { place = nil }
        if progress.isOver { _ = listShare.hold(conversation.cost) }
        if hasMore, unread < maximumUnread { settleSoon() }
        // Lines, or the rest of a list, may have waited for the sent bytes.
        let isReady = progress.isOver ? connection.input.hasLine : !progress.isRunning
        if stream == nil, unread < maximumUnread, isReady { settleSoon() }
        if connection.hasEnded, !isReady, progress.isOver, unread == 0 { return close() }
        connection.watch(forLines: !isBlocked)
    }

    /// Makes rows of the long answer until enough bytes wait. True: more rows are ready at once.
    private func pull() -> Bool {
        guard let (stream, finish) = stream else { return false }
        while unread < maximumUnread {
            switch stream.write(&writer) {
            case .more: continue
            case .pauses: return true
            case .waits: return false
            case .ends(let outcome):
                self.stream = nil
                finish(outcome)
                return false
            }
        }
        return true
    }

    // MARK: End

    /// The last sign of life: a line, or a read of an answer. A client without any right gives none.
    var lastSign: MonotonicTime { permissions.isEmpty ? lastLine : max(lastLine, lastSent) }

    /// Ends the connection of a client that gave no sign for too long and waits for no change, unless its command runs.
    func isSilent(_ now: MonotonicTime) {
        if progress.isOver || unread > 0 || permissions.isEmpty { close() } else { lastLine = now }
    }

    /// Ends the connection.
    func close() {
        guard !connection.isClosed else { return }
        connection.close()
        isTimed = false
        stream = nil
        place = nil
        _ = listShare.hold(0)
        progress.abandon()
        server.forget(self)
    }
}
