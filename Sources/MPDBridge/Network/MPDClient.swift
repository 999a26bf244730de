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
    /// Instant of the last line, of the end of an `idle`, or of the start.
    private(set) var lastLine = EventLoop.now
    /// True while the time limit for the next line applies.
    private(set) var isTimed = false {
        didSet {
            if isTimed != oldValue { isTimed ? server.patience.begin() : server.patience.end() }
        }
    }

    /// Bytes of unread answers above which the client's commands wait.
    private static let maximumUnread = 64 << 10

    /// A client, which takes ownership of the descriptor.
    init(
        _ server: MPDServer, _ loop: EventLoop, _ descriptor: Int32, number: Int, isLocal: Bool, user: UInt32?,
        permissions: Permissions, _ performer: any CommandPerformer
    ) {
        self.server = server
        self.performer = performer
        self.loop = loop
        self.number = number
        self.isLocal = isLocal
        self.user = user
        self.permissions = permissions
        connection = ClientConnection(descriptor)
    }

    /// Greets the client and serves it. False: the descriptor cannot be watched.
    func begin() -> Bool {
        guard connection.begin(loop, { [unowned self] in happened($0) }) else { return false }
        writer.greeting(version: MPDServer.version)
        isTimed = true
        settle()
        return true
    }

    // MARK: Settings

    /// Changes the client's rights.
    func grant(_ rights: Permissions) { permissions = rights }

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
        while !connection.isClosed, stream == nil, unread < Self.maximumUnread {
            if !progress.isOver {
                guard step() else { break }
            } else {
                guard let line = takeLine() else { break }
                lastLine = EventLoop.now
                take(conversation.take(line))
            }
        }
    }

    private func take(_ step: Conversation.Step) {
        switch step {
        case .nothing: break
        case .close: close()
        case .endIdle:
            isTimed = !connection.isGone
            writer.ok()
        case .run(let work): progress.begin(work)
        }
    }

    /// Begins the next line of the list, or several of them; false: earlier lines still run.
    private func step() -> Bool {
        switch progress.step(allowed: permissions, available: performer.commands, &writer) {
        case .waits: return false
        case .over: break
        case .refused(let endsConnection): if endsConnection { connection.end(dropping: false) }
        case .one(let request):
            performer.perform(request, for: self) { [weak self] in self?.ended(request.command, $0) }
        case .several(let requests):
            performer.perform(requests, for: self) { [weak self] in self?.ended(requests.count, $0) }
        }
        return true
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

    private func takeLine() -> [UInt8]? {
        let line = connection.takeLine()
        guard (line?.count ?? connection.input.count - 1) < Conversation.maximumLine else {
            close()
            return nil
        }
        return line
    }

    private func happened(_ event: ClientConnection.Event) {
        if event.isReadable { isBlocked ? connection.rest() : connection.receive() }
        if event.isGone { leave() }
        settle()
    }

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
        connection.receive()
        settleSoon()
    }

    private var isBlocked: Bool {
        connection.hasEnded || !progress.isOver || connection.input.count > Conversation.maximumLine
            || unread >= Self.maximumUnread
    }

    private func settleSoon() {
        guard !isProcessing, !willSettle, !connection.isClosed else { return }
        willSettle = true
        loop.later { [weak self] in
            self?.willSettle = false
            self?.settle()
        }
    }

    /// Carries out and sends as much as possible, and watches for the rest.
    private func settle() {
        guard !connection.isClosed else { return }
        process()
        if connection.isGone { finishAlone() }
        let hasMore = pull()
        if !connection.send(writer.take()) {
            isTimed = false
            settleSoon()
        }
        if connection.isClosed { return }
        if hasMore, unread < Self.maximumUnread { settleSoon() }
        // Lines, or the rest of a list, may have waited for the sent bytes.
        let isReady = progress.isOver ? connection.input.hasLine : !progress.isRunning
        if stream == nil, unread < Self.maximumUnread, isReady { settleSoon() }
        if connection.hasEnded, !isReady, progress.isOver, unread == 0 { return close() }
        connection.watch(forLines: !isBlocked)
    }

    /// Makes rows of the long answer until enough bytes wait. True: more rows are ready at once.
    private func pull() -> Bool {
        guard let (stream, finish) = stream else { return false }
        while unread < Self.maximumUnread {
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

    /// Ends the connection of a client that sent no line for too long and waits for no change, unless an answer is in progress.
    func isSilent(_ now: MonotonicTime) {
        if progress.isOver { close() } else { lastLine = now }
    }

    /// Ends the connection.
    func close() {
        guard !connection.isClosed else { return }
        connection.close()
        isTimed = false
        stream = nil
        progress.abandon()
        server.forget(self)
    }
}
