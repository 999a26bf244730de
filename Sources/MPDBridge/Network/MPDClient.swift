import CLinux
import Glibc
import LinuxSystem
import MPDProtocol
import NowPlaying

/// One connection: lines that came, and answers that are not sent yet. Commands run one after the other.
@PlayerLoop final class MPDClient {
    /// Number of the connection.
    let number: Int
    /// True if it came by a local socket.
    let isLocal: Bool
    /// User of this machine at the other end; nil: unknown.
    let user: UInt32?
    /// Rights: other ones after a password.
    var permissions: Permissions
    /// Carries out its commands: those of its partition.
    private(set) var performer: any CommandPerformer
    /// Parts of the protocol that it has switched on.
    var features: Set<ProtocolFeature> = []
    /// Tags that it wants in song blocks.
    var tags = TagMask.all
    /// Most bytes of a binary part.
    var binaryLimit = 8192
    /// Changes that it was not sent yet.
    private(set) var changes = PendingChanges()
    /// Writes the answer of the command that runs.
    var writer = AnswerWriter()

    private let descriptor: Int32
    private let loop: EventLoop
    private unowned let server: MPDServer
    private var source: EventSource?
    private var watched: UInt32 = 0
    private var input = LineBuffer()
    private var conversation = Conversation()
    private var awaited: SubsystemSet = []
    private var run: CommandRun?
    private var stream: (any AnswerStream, Finish)?
    private var output = UnsentBytes()
    private var isProcessing = false
    private var hasEnded = false
    private var isClosed = false
    /// True if nobody reads answers any more. Lines that came before are still carried out.
    private var isGone = false
    /// Instant of the last line, of the end of an `idle`, or of the begin.
    private(set) var lastLine = EventLoop.now
    /// True while it has to send a line in time.
    private(set) var isTimed = false {
        didSet {
            if isTimed != oldValue { isTimed ? server.patience.begin() : server.patience.end() }
        }
    }

    /// Bytes of answers above which nothing more is made until some were read.
    private static let maximumUnread = 64 << 10

    /// A connection; its descriptor becomes the client's.
    init(
        _ server: MPDServer, _ loop: EventLoop, _ descriptor: Int32, number: Int, isLocal: Bool, user: UInt32?,
        permissions: Permissions, _ performer: any CommandPerformer
    ) {
        self.server = server
        self.performer = performer
        self.loop = loop
        self.descriptor = descriptor
        self.number = number
        self.isLocal = isLocal
        self.user = user
        self.permissions = permissions
    }

    /// Greets the client and serves it. False: it can't be watched.
    func begin() -> Bool {
        watched = Self.readable
        source = loop.watch(descriptor, watched) { [unowned self] in happened($0) }
        guard source != nil else { return false }
        writer.greeting(version: MPDServer.version)
        isTimed = true
        settle()
        return true
    }

    // MARK: Changes

    /// Something has changed: the client is sent it, now or at its next `idle`.
    func note(_ changed: SubsystemSet, at now: MonotonicTime = EventLoop.now) {
        changes.note(changed)
        guard conversation.isIdle else { return }
        let taken = changes.take(awaited)
        guard !taken.isEmpty else { return }
        conversation.endIdle()
        lastLine = now
        isTimed = !isGone
        if sendAtOnce(server.lines(of: taken)) { return }
        writer.changed(taken)
        settleSoon()
    }

    /// Sends lines without another turn of the loop; false: not all of them, and nothing is sent.
    private func sendAtOnce(_ lines: [UInt8]) -> Bool {
        guard unread == 0, !isGone, !isProcessing else { return false }
        let count = lines.withUnsafeBytes { UnixSocket.send(descriptor, $0) }
        guard count < lines.count else { return true }
        guard count > 0 else { return false }
        output.append(Array(lines[count...]))
        settleSoon()
        return true
    }

    /// Its commands are those of another partition from now on, where everything may be different.
    func join(_ performer: any CommandPerformer) {
        guard performer !== self.performer else { return }
        let old = self.performer
        self.performer = performer
        server.moved(self, from: old)
        note(SubsystemSet([Subsystem.playlist, .player, .mixer, .output, .options].map(SubsystemSet.init)))
    }

    // MARK: Commands

    /// Goes on with the long answer, because more of it is there.
    func proceed() { settleSoon() }

    /// Answers the command that runs with a long answer.
    func answer(_ stream: any AnswerStream, _ finish: @escaping Finish) {
        self.stream = (stream, finish)
        settleSoon()
    }

    private func process() {
        guard !isProcessing else { return }
        isProcessing = true
        defer { isProcessing = false }
        while !isClosed, stream == nil, unread < Self.maximumUnread {
            if let current = run {
                guard step(current) else { break }
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
            isTimed = !isGone
            writer.ok()
        case .run(let work):
            isRunning = false
            run = CommandRun(work)
        }
    }

    /// True while a command was begun and has not ended.
    private var isRunning = false

    /// Begins the next line of the list, or several of them; false: those before have not ended.
    private func step(_ current: CommandRun) -> Bool {
        guard !isRunning else { return false }
        guard let line = current.line else {
            writer.ok()
            run = nil
            return true
        }
        let (allowed, available) = (permissions, performer.commands)
        do throws(RequestFault) {
            let request = try MPDRequest.read(line, allowed: allowed, available: available)
            isRunning = true
            let together = current.together(request) {
                try? MPDRequest.read($0, allowed: allowed, available: available)
            }
            if together.count > 1 {
                performer.perform(together, for: self) { [weak self] in self?.ended(together.count, $0) }
            } else {
                performer.perform(request, for: self) { [weak self] in self?.ended(request.command, $0) }
            }
        } catch {
            writer.failure(error.failure, index: current.index, command: error.command?.rawValue ?? "")
            run = nil
            if error.endsConnection { hasEnded = true }
        }
        return true
    }

    /// Requests that were to be carried out together have ended.
    private func ended(_ count: Int, _ outcome: JointOutcome) {
        guard run != nil, isRunning else { return }
        isRunning = false
        switch outcome {
        case .done(let ids):
            for id in ids {
                if let id { writer.pair("Id", id) }
                passed()
            }
        case .first: run?.separate()
        case .refused: run?.divide(count)
        }
        settleSoon()
    }

    /// The next line is answered.
    private func passed() {
        run?.pass()
        switch run?.kind {
        case .single, .list, nil: break
        case .listWithOKs: writer.listOK()
        }
    }

    private func ended(_ command: MPDCommand, _ outcome: Outcome) {
        guard let current = run, isRunning else { return }
        isRunning = false
        switch outcome {
        case .ok:
            passed()
        case .failed(let failure):
            writer.failure(failure, index: current.index, command: command.rawValue)
            run = nil
        case .idles(let subsystems):
            run = nil
            awaited = subsystems
            let taken = changes.take(subsystems)
            if taken.isEmpty {
                conversation.beginIdle()
                isTimed = false
            } else {
                writer.changed(taken)
            }
        case .closes:
            // The answers before it are sent, and the lines after it are not carried out.
            run = nil
            input.removeAll()
            hasEnded = true
        }
        settleSoon()
    }

    // MARK: Bytes

    private var unread: Int { writer.bytes.count + output.count }

    private func takeLine() -> [UInt8]? {
        let line = input.next()
        guard (line?.count ?? input.count - 1) < Conversation.maximumLine else {
            close()
            return nil
        }
        return line
    }

    private func happened(_ events: UInt32) {
        if events & Self.readable != 0, !isBlocked { receive() }
        if events & Self.gone != 0 { leave() }
        settle()
    }

    /// The client has closed its end: a change that it asked for is made nevertheless.
    private func leave() {
        isGone = true
        isTimed = false
        // The kernel would report it again and again.
        source?.release()
        source = nil
    }

    /// Reads what the client sent before it closed its end, and ends an answer that nobody reads.
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
        hasEnded || run != nil || input.count > Conversation.maximumLine || unread >= Self.maximumUnread
    }

    private func receive() {
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { buffer in
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 {
                input.append(buffer[..<count])
            } else if count == 0 || errno != EAGAIN && errno != EINTR {
                hasEnded = true
            }
        }
    }

    private var willSettle = false

    private func settleSoon() {
        guard !isProcessing, !willSettle, !isClosed else { return }
        willSettle = true
        loop.later { [weak self] in
            self?.willSettle = false
            self?.settle()
        }
    }

    /// Carries out and sends as much as possible, and watches for the rest.
    private func settle() {
        guard !isClosed else { return }
        process()
        if isGone { finishAlone() }
        let hasMore = pull()
        flush()
        if isClosed { return }
        if hasMore, unread < Self.maximumUnread { settleSoon() }
        // Lines, or the rest of a list, that waited for the bytes that were sent.
        let isReady = run == nil ? input.hasLine : !isRunning
        if stream == nil, unread < Self.maximumUnread, isReady { settleSoon() }
        if hasEnded, !isReady, run == nil, unread == 0 { return close() }
        watch()
    }

    /// Makes rows of the long answer until enough wait to be read. True: there are more rows at once.
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

    private func flush() {
        output.append(writer.take())
        if isGone { output.removeAll() }
        guard !output.send(to: descriptor) else { return }
        leave()
        output.removeAll()
        settleSoon()
    }

    private static let readable = UInt32(EPOLLIN.rawValue)
    private static let writable = UInt32(EPOLLOUT.rawValue)
    private static let gone = UInt32(EPOLLHUP.rawValue | EPOLLERR.rawValue)

    private func watch() {
        var wanted: UInt32 = 0
        if !isBlocked { wanted |= Self.readable }
        if output.count > 0 { wanted |= Self.writable }
        guard wanted != watched, !isGone else { return }
        watched = wanted
        source?.setEvents(wanted)
    }

    // MARK: End

    /// The client sent no line for too long, and waits for no change: ends the connection, unless an answer is made.
    func isSilent(_ now: MonotonicTime) {
        if run == nil { close() } else { lastLine = now }
    }

    /// Ends the connection.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        source?.release()
        source = nil
        isTimed = false
        stream = nil
        run = nil
        Glibc.close(descriptor)
        server.forget(self)
    }
}
