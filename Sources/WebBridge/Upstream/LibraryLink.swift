import ControlProtocol
import LinuxSystem
import NowPlaying
import WebAccess
import WebProtocol

/// One caller's connection to the library. When the library ends, unanswered requests get an error, and the caller's
/// session continues. The link repeats a subscription when the library is back.
@PlayerLoop final class LibraryLink {
    /// Called with each line for the caller, without its end.
    var onLine: (@PlayerLoop ([UInt8]) -> Void)?
    /// Called when the library has taken all bytes after a delay.
    var onDrain: (@PlayerLoop () -> Void)?

    private let services: Services
    private let caller: AccessCaller
    private var role: Role
    private var upstream: Upstream?
    private var asked: [Question] = []
    /// True if the caller has subscribed to changes.
    private var isSubscribed = false
    private var isPaused = false
    /// Waits for the library after its end.
    private var waiting: LibraryReturn.Place?
    private var settled: (@PlayerLoop () -> Void)?

    /// A request or a batch without an answer.
    private struct Question {
        /// Ids in one spelling.
        let ids: [[UInt8]]
        let isBatch: Bool
        /// The parameters, if this is a request for a picture.
        let picture: JSONObject?
    }

    /// A link that connects with the first request.
    init(_ services: Services, _ caller: AccessCaller, _ role: Role) {
        self.services = services
        self.caller = caller
        self.role = role
    }

    /// Number of bytes that the library has not taken.
    var unsent: Int { upstream?.unsent ?? 0 }

    /// Reads nothing while paused.
    func setPaused(_ isPaused: Bool) {
        self.isPaused = isPaused
        upstream?.setPaused(isPaused)
    }

    /// Gives up rights.
    func setRole(_ role: Role) {
        self.role = role
        upstream?.send(Upstream.request(id: nil, "hello", JSONObject([.init("role", .string(role.rawValue))])))
    }

    /// Ends the link. No handler is called from then on.
    func close() {
        onLine = nil
        onDrain = nil
        settled = nil
        waiting = nil
        asked = []
        upstream?.close()
        upstream = nil
    }

    // MARK: Requests

    /// Sends a line with these requests. Throws if the library is not there.
    func send(_ line: [UInt8], _ requests: [RPCRequest], isBatch: Bool) throws(RPCError) {
        let upstream = try open()
        for request in requests where request.method == LibraryMethodName.librarySubscribe.rawValue {
            isSubscribed = true
        }
        let ids = requests.compactMap(\.id).map(Self.spelled)
        if !ids.isEmpty {
            let isPicture = !isBatch && requests[0].method == LibraryMethodName.libraryArtwork.rawValue
            asked.append(Question(ids: ids, isBatch: isBatch, picture: isPicture ? requests[0].parameters : nil))
        }
        upstream.send(line)
    }

    /// Calls `done` when the library has begun all requests so far, or has ended.
    func settle(_ done: @escaping @PlayerLoop () -> Void) {
        guard let upstream else { return done() }
        settled = done
        upstream.onLine = { [unowned self] line, _ in
            if !Upstream.isNotification(line) { finishSettling() }
        }
        upstream.send(Upstream.request(id: "0", "hello"))
    }

    private func finishSettling() {
        let done = settled
        settled = nil
        done?()
    }

    private func open() throws(RPCError) -> Upstream {
        if let upstream { return upstream }
        let made = try services.library(caller, role)
        made.onLine = { [unowned self] line, _ in take(line) }
        made.onDrain = { [unowned self] in onDrain?() }
        made.onEnd = { [unowned self] refusal in
            // A library that refuses the caller would refuse it again.
            if refusal != nil { isSubscribed = false }
            end(refusal?.message ?? "the library has ended: start nowplaying-library, or wait for it")
        }
        made.setPaused(isPaused)
        upstream = made
        if isSubscribed { subscribeAgain(made) }
        return made
    }

    // MARK: The end and the return of the library

    private func end(_ words: String) {
        upstream = nil
        let lost = asked.filter { $0.ids != [Self.subscription] }
        asked = []
        onDrain?()
        for question in lost { refuse(question, .commandFailed(.unavailable, words)) }
        finishSettling()
        if isSubscribed, onLine != nil { waitForReturn() }
    }

    private func refuse(_ question: Question, _ error: RPCError) {
        let answers = question.ids.map { id in
            var writer = JSONWriter()
            writer.answer(id: id, error: error)
            return writer.bytes
        }
        guard question.isBatch else { return answers.forEach { onLine?($0) } }
        onLine?([UInt8(ascii: "[")] + answers.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")])
    }

    private func waitForReturn() {
        waiting = services.libraryReturn.wait { [unowned self] in
            guard upstream == nil else { return true }
            return (try? open()) != nil
        }
    }

    /// Sends one notification for all changes that the caller may have missed.
    private func subscribeAgain(_ upstream: Upstream) {
        waiting = nil
        asked.append(Question(ids: [Self.subscription], isBatch: false, picture: nil))
        upstream.send(
            Upstream.request(
                id: String(decoding: Self.subscription, as: UTF8.self), LibraryMethodName.librarySubscribe.rawValue))
    }

    /// The id of the link's own subscription; no caller can guess it.
    private static let subscription: [UInt8] = {
        var generator = SystemRandomNumberGenerator()
        return Array("\"nowplaying-web \(generator.next() as UInt64)\"".utf8)
    }()

    // MARK: Answers

    private func take(_ line: [UInt8]) {
        guard !Upstream.isNotification(line), let index = question(of: line) else { return onLine?(line) ?? () }
        let question = asked.remove(at: index)
        if question.ids == [Self.subscription] { return report(line) }
        if let picture = question.picture, let id = (try? JSONReader.read(line))?["result"]?["id"]?.stringValue {
            services.pictures.note(id, picture)
        }
        onLine?(line)
    }

    private func report(_ line: [UInt8]) {
        guard let result = (try? JSONReader.read(line))?["result"]?.objectValue else { return }
        var writer = JSONWriter()
        writer.request(id: nil, method: LibraryCatalogue.libraryChanged, parameters: result)
        onLine?(writer.bytes)
    }

    /// The index of the request that this line answers.
    private func question(of line: [UInt8]) -> Int? {
        guard !asked.isEmpty else { return nil }
        if line.first == UInt8(ascii: "[") {
            let ids = (try? JSONReader.read(line))?.arrayValue?.compactMap { $0["id"] }.map(Self.spelled) ?? []
            return asked.firstIndex { $0.isBatch && $0.ids.contains { ids.contains($0) } }
        }
        guard let id = Self.id(of: line) else { return nil }
        return asked.firstIndex { !$0.isBatch && $0.ids[0] == id }
    }

    private static let answerStart = Array(#"{"jsonrpc":"2.0","id":"#.utf8)

    /// The id of an answer. It does not parse the long rest.
    private static func id(of line: [UInt8]) -> [UInt8]? {
        guard line.starts(with: answerStart) else { return (try? JSONReader.read(line))?["id"].map(spelled) }
        var end = answerStart.count
        var isText = false
        while end < line.count {
            switch line[end] {
            case UInt8(ascii: "\\") where isText: end += 1
            case UInt8(ascii: "\""): isText.toggle()
            case UInt8(ascii: ",") where !isText, UInt8(ascii: "}") where !isText:
                return spelled(Array(line[answerStart.count..<end]))
            case _: break
            }
            end += 1
        }
        return nil
    }

    /// An id in one spelling: a caller may write the same text or number in several.
    private static func spelled(_ id: [UInt8]) -> [UInt8] { (try? JSONReader.read(id)).map(spelled) ?? id }

    private static func spelled(_ id: JSONValue) -> [UInt8] {
        var writer = JSONWriter()
        writer.value(id)
        return writer.bytes
    }
}
