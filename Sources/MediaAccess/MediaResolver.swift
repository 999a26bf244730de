import AudioCore
package import ControlProtocol
package import LinuxSystem
import NowPlaying

/// Resolves the media of a request: checks that they exist and that the client may use them, and opens folders and
/// lists. Runs on a worker thread, since every access to a disk may block.
package struct MediaResolver: Sendable {
    /// Folders whose paths are accepted while their disk is not mounted. A foreign peer may name media only below them.
    package let roots: MediaRoots
    /// True if the peer has another uid than the daemon (and is not root).
    package let isForeign: Bool
    /// Maximum number of items of a request.
    package let limit: Int
    /// The open files that came with the request.
    package let descriptors: [OwnedDescriptor]
    /// Set when the result is no longer needed.
    package let abandoned: AbandonFlag

    /// A resolver for the lines of one peer.
    package init(
        roots: MediaRoots, isForeign: Bool, limit: Int, descriptors: [OwnedDescriptor], abandoned: AbandonFlag
    ) {
        self.roots = roots
        self.isForeign = isForeign
        self.limit = limit
        self.descriptors = descriptors
        self.abandoned = abandoned
    }

    /// True if a request names media.
    package static func isNeeded(_ method: MethodName, _ parameters: JSONObject) -> Bool {
        switch method {
        case .other(.queueAdd), .other(.announce): true
        case .other(.diagnosticsGet), .other(.feedbackSet): parameters["uri"] != nil
        case .other(.feedbackGet): parameters["uris"] != nil
        case .command(.play): parameters["uri"] != nil || parameters["descriptor"] != nil
        case .command, .other: false
        }
    }

    /// Media of the request, in order, all or nothing. Throws 403 if one of them is forbidden to the peer, else 100
    /// with all media that cannot be played.
    package func resolve(_ method: MethodName, _ parameters: JSONObject) throws(RPCError) -> [ResolvedMedia] {
        var search: MediaSearch
        if method == .other(.queueAdd), let items = parameters["items"]?.arrayValue {
            search = try resolve(items)
        } else if method == .other(.feedbackGet) || method == .other(.feedbackSet) {
            search = MediaSearch(self, TextBudget(), looksInside: false)
            let uris = parameters["uris"]?.arrayValue ?? [parameters["uri"] ?? .null]
            for case .string(let uri) in uris where !abandoned.isSet { try search.addSingle(uri: uri) }
        } else if method == .other(.queueAdd), let list = parameters["list"]?["descriptor"]?.integerValue {
            search = try resolve(listAt: Int(list))
        } else {
            // A position refers to the whole file.
            let isAnnouncement = method == .other(.announce)
            search = MediaSearch(
                self, TextBudget(), looksInside: !isAnnouncement && parameters["position"] == nil,
                takesPipes: isAnnouncement)
            try search.add(parameters)
        }
        if let first = search.missing.first {
            let more = search.missing.count > 1 ? " (and \(search.missing.count - 1) more)" : ""
            let line = first.line.map { "line \($0) of the list: " } ?? ""
            var refusal = RPCError.noSuchContent(
                "\(line)“\(PrintableText.escaped(first.uri, limit: 200))” \(first.words)\(more)", reason: first.reason,
                uris: search.missing.prefix(100).map(\.uri))
            if let line = first.line { refusal.data["line"] = .integer(Int64(line)) }
            throw refusal
        }
        return search.media
    }

    /// Maximum number of items of a request whose files are searched for a cue sheet.
    private static let largestLookInside = 64

    /// Parts of a request of many items, and their least size. Each reads the cue sheets that it names once.
    private static let parts = 4
    private static let leastPart = 64

    /// An access to a disk takes microseconds even if it is cached: two threads share a request of many items.
    private func resolve(_ items: [JSONValue]) throws(RPCError) -> MediaSearch {
        let budget = TextBudget()
        guard items.count >= Self.parts * Self.leastPart else {
            return try resolve(items[...], budget, looksInside: items.count <= Self.largestLookInside)
        }
        let found = Parallel.map(Self.parts, threads: 2) { part -> Result<MediaSearch, RPCError> in
            let (start, end) = (items.count * part / Self.parts, items.count * (part + 1) / Self.parts)
            do throws(RPCError) { return .success(try resolve(items[start..<end], budget)) } catch {
                return .failure(error)
            }
        }
        var result = MediaSearch(self, budget, looksInside: false)
        result.reserve(items.count)
        for part in found { try result.append(try part.get()) }
        return result
    }

    private func resolve(
        _ items: ArraySlice<JSONValue>, _ budget: TextBudget, looksInside: Bool = false
    ) throws(RPCError) -> MediaSearch {
        var search = MediaSearch(self, budget, looksInside: looksInside)
        search.reserve(items.count)
        for item in items {
            if abandoned.isSet { break }
            switch item {
            case .string(let uri): try search.add(uri: uri, nil)
            case .object(let object): try search.add(object)
            default: break
            }
        }
        return search
    }
}
