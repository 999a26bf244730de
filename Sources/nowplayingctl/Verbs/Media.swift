import ControlProtocol
import Glibc
import NowPlayingClient

/// Files, folders and addresses to send to the daemon.
struct Media {
    /// One argument.
    private struct Entry {
        /// The uri for the daemon.
        var uri: String
        /// The absolute path of a local file; nil: it is no local file.
        var path: [UInt8]?
        /// True if the daemon gets the file as a descriptor.
        var isHandedOver = false
    }

    private let run: Invocation
    private let connection: Connection
    private let daemon: DaemonIdentity?
    /// Seconds for an answer of the daemon; nil: without limit.
    private let patience: Double?

    /// Descriptors that one line may carry, and bytes of a line below the protocol's 256 KiB.
    private static let descriptorsOfLine = 16
    private static let bytesOfLine = 200_000

    /// Connects, and identifies the daemon. Throws if no daemon answers.
    init(_ run: Invocation, patience: Double? = Invocation.patience) throws(Failure) {
        self.run = run
        self.patience = patience
        connection = try run.connection()
        daemon = DaemonIdentity(of: connection)
    }

    // MARK: Methods

    /// Replaces the queue by the first of `words` that exists and plays it; the others follow in the queue. Names those that
    /// do not exist. With `--strict`, all must exist.
    func play(_ words: [Word], _ parameters: JSONObject) throws(Failure) -> JSONValue {
        let entries = try words.map { word throws(Failure) in try entry(word) }
        if isStrict { for entry in entries.dropFirst() { if let path = entry.path { try Media.check(path) } } }
        var failures: [Failure] = []
        for (index, first) in entries.enumerated() {
            // The position is one in the first file.
            let own = index == 0 ? parameters : JSONObject()
            let result: JSONValue
            do throws(Failure) {
                result = try send([first]) { items throws(Failure) in ("play", named(items[0], own)) }
            } catch {
                guard first.path != nil, mayLeaveOut(error) else { throw error }
                failures.append(error)
                continue
            }
            for failure in failures { report(failure) }
            try follow(words[index], by: Array(entries.dropFirst(index + 1)))
            return result
        }
        var all = failures[0]
        for failure in failures.dropFirst() { all.message += "\n" + failure.message }
        throw all
    }

    /// Adds the rest of the media after the one that plays.
    private func follow(_ playing: Word, by rest: [Entry]) throws(Failure) {
        guard !rest.isEmpty else { return }
        do throws(Failure) { _ = try add(rest, JSONObject(), isRest: true) } catch {
            var failure = error
            failure.message += "\n\(playing.shown) plays; the others are not in the queue"
            throw failure
        }
    }

    private var isStrict: Bool { run.has("--strict") }

    /// True if a request failed as nothing that it names exists, and the rest may do without.
    private func mayLeaveOut(_ failure: Failure) -> Bool { failure.remote?.code == 100 && !isStrict }

    /// Reports media that a refused request named, on standard error.
    private func report(_ failure: Failure) { complain("left out: " + failure.message) }

    /// Throws if nothing exists at this path.
    private static func check(_ path: [UInt8]) throws(Failure) {
        let isThere = (path + [0]).withUnsafeBytes {
            access($0.bindMemory(to: CChar.self).baseAddress!, F_OK) == 0
        }
        guard !isThere, errno == ENOENT || errno == ENOTDIR else { return }
        let shown = TerminalText.safe(String(decoding: path, as: UTF8.self))
        throw Failure(.noSuchContent, "\(shown): no such file; the queue is unchanged")
    }

    /// Plays a file or address over the current item.
    func announce(_ word: Word, _ parameters: JSONObject) throws(Failure) -> JSONValue {
        try send([entry(word)]) { items throws(Failure) in ("announce", named(items[0], parameters)) }
    }

    /// Parameters of a method that plays one file or address.
    private func named(_ item: JSONValue, _ parameters: JSONObject) -> JSONObject {
        var parameters = parameters
        switch item {
        case .object(let item): for member in item.members { parameters[member.name] = member.value }
        case let uri: parameters["uri"] = uri
        }
        return parameters
    }

    /// Adds `words` to the queue; `parameters` have the place.
    func add(_ words: [Word], _ parameters: JSONObject) throws(Failure) -> [JSONValue] {
        try add(words.map { word throws(Failure) in try entry(word) }, parameters)
    }

    /// Adds entries in portions. `isRest`: others are there, so that none of these has to exist.
    private func add(
        _ entries: [Entry], _ parameters: JSONObject, isRest: Bool = false
    ) throws(Failure) -> [JSONValue] {
        var parameters = parameters
        var results: [JSONValue] = []
        var failures: [Failure] = []
        var parts = parted(entries)
        // Each part goes directly after the current item, so the last part is sent first to keep the order.
        if parameters["next"] != nil { parts.reverse() }
        for part in parts {
            let result: JSONValue
            do throws(Failure) {
                result = try send(part) { items throws(Failure) in
                    parameters["items"] = .array(items)
                    return ("queue.add", parameters)
                }
            } catch {
                guard mayLeaveOut(error) else { throw error }
                failures.append(error)
                continue
            }
            results.append(result)
            if let at = parameters["at"]?.integerValue {
                parameters["at"] = .integer(at + Int64(result["ids"]?.arrayValue?.count ?? part.count))
            }
            if parameters["next"] == nil { parameters["play"] = nil }
        }
        if let failure = failures.first, results.isEmpty, !isRest { throw failure }
        for failure in failures { report(failure) }
        return results
    }

    // MARK: Entries

    /// The `file://` uri of a file, or the address.
    func uri(of word: Word) throws(Failure) -> String { try entry(word).uri }

    private func entry(_ word: Word) throws(Failure) -> Entry {
        guard !word.bytes.isEmpty else { throw .usage("the file name is empty", verb: run.verb.name) }
        if Media.isAddress(word.text) { return Entry(uri: word.text) }
        var folder: [UInt8] = []
        if word.bytes.first != UInt8(ascii: "/") {
            guard let name = getcwd(nil, 0) else {
                throw Failure(.general, "cannot read the working directory: \(SystemText.error(errno))")
            }
            folder = Array(UnsafeRawBufferPointer(start: name, count: strlen(name)))
            free(name)
        }
        let path = FileName.absolute(word.bytes, in: folder)
        var entry = Entry(uri: FileName.uri(ofAbsolutePath: path), path: path)
        if let daemon, !daemon.isSelf, !daemon.mayRead(path), isRegularFile(path) { entry.isHandedOver = true }
        return entry
    }

    /// True for a uri: a scheme and `://`.
    private static func isAddress(_ text: String) -> Bool {
        let scheme = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "+") }
        return scheme.count > 1 && text.dropFirst(scheme.count).hasPrefix("://")
    }

    /// Entries in portions that fit into a line each.
    private func parted(_ entries: [Entry]) -> [[Entry]] {
        var parts: [[Entry]] = [[]]
        var bytes = 0
        var descriptors = 0
        for entry in entries {
            // Escapes lengthen a name at most sixfold.
            let size = entry.uri.utf8.count + 40
            let isFull = bytes + size > Media.bytesOfLine || descriptors == Media.descriptorsOfLine
            if isFull, !parts[parts.count - 1].isEmpty {
                parts.append([])
                bytes = 0
                descriptors = 0
            }
            parts[parts.count - 1].append(entry)
            bytes += size
            // A daemon of another user may need each local file as a descriptor.
            if entry.path != nil, daemon?.isSelf != true { descriptors += 1 }
        }
        return parts
    }

    /// Sends entries. A second attempt passes the files that the daemon may not open as descriptors, so that the first one
    /// leaves out none of them.
    private func send(
        _ entries: [Entry], _ request: ([JSONValue]) throws(Failure) -> (method: String, parameters: JSONObject)
    ) throws(Failure) -> JSONValue {
        var retried = entries
        for index in retried.indices where daemon?.isSelf != true {
            guard let path = retried[index].path, isRegularFile(path), !Self.isList(path) else { continue }
            retried[index].isHandedOver = true
        }
        let mayRetry = zip(entries, retried).contains { $0.isHandedOver != $1.isHandedOver }
        do {
            return try attempt(entries, request, isStrict: mayRetry || isStrict)
        } catch {
            guard let remote = error.remote, mayRetry, remote.code == 403 || remote.code == 100 else {
                throw explained(error, entries)
            }
            do { return try attempt(retried, request, isStrict: isStrict) } catch { throw explained(error, entries) }
        }
    }

    /// True for a playlist: the daemon reads it by its path only.
    private static func isList(_ path: [UInt8]) -> Bool {
        [".m3u", ".m3u8", ".pls", ".xspf", ".cue"].contains {
            path.suffix($0.utf8.count).elementsEqual($0.utf8) { $0 | 0x20 == $1 | 0x20 }
        }
    }

    private func attempt(
        _ entries: [Entry], _ request: ([JSONValue]) throws(Failure) -> (method: String, parameters: JSONObject),
        isStrict: Bool
    ) throws(Failure) -> JSONValue {
        var descriptors: [Int32] = []
        defer { for descriptor in descriptors { close(descriptor) } }
        var items: [JSONValue] = []
        for entry in entries {
            guard entry.isHandedOver, let path = entry.path else {
                items.append(.string(entry.uri))
                continue
            }
            let descriptor = (path + [0]).withUnsafeBytes {
                open($0.bindMemory(to: CChar.self).baseAddress!, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
            }
            guard descriptor >= 0 else {
                let code = errno
                let shown = TerminalText.safe(entry.uri)
                throw Failure(code == EACCES ? .denied : .noSuchContent, "\(shown): \(SystemText.error(code))")
            }
            items.append(["descriptor": .integer(Int64(descriptors.count)), "uri": .string(entry.uri)])
            descriptors.append(descriptor)
        }
        var (method, parameters) = try request(items)
        if isStrict, method != "announce" { parameters["strict"] = true }
        let result = try run.call(method, .object(parameters), descriptors: descriptors, patience: patience)
        run.reportMissing(result)
        return result
    }

    /// The daemon's refusal with hints for a remedy.
    private func explained(_ failure: Failure, _ entries: [Entry]) -> Failure {
        guard let remote = failure.remote, remote.code == 403 || remote.code == 100 else { return failure }
        let named = remote.data["uris"]?.arrayValue?.compactMap(\.stringValue)
        let refused = entries.filter { named?.contains($0.uri) ?? true }
        var result = failure
        for hint in Media.hints(refused.compactMap(\.path), daemon: daemon) { result.message += "\n" + hint }
        return result
    }

    private func isRegularFile(_ path: [UInt8]) -> Bool {
        var status = stat()
        return (path + [0]).withUnsafeBytes { stat($0.bindMemory(to: CChar.self).baseAddress!, &status) == 0 }
            && status.st_mode & S_IFMT == S_IFREG
    }
}
