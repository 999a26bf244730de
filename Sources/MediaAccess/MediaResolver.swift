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

    /// Media of the request, in order: those that exist, and the missing ones. With `strict`, and in requests that add no
    /// items, it is all or nothing. Throws if nothing is left: 403 if one of the media is forbidden to the peer, else 100
    /// with the missing media.
    package func resolve(_ method: MethodName, _ parameters: JSONObject) throws(RPCError) -> FoundMedia {
        let addsItems = method == .command(.play) || method == .other(.queueAdd)
        let isStrict = !addsItems || parameters["strict"]?.boolValue == true
        let search = try search(method, parameters, isStrict: isStrict)
        if search.missingCount > 0, isStrict || search.media.isEmpty { throw refusal(of: search) }
        return FoundMedia(media: search.media, missing: search.missing, missingCount: search.missingCount)
    }

    private func search(
        _ method: MethodName, _ parameters: JSONObject, isStrict: Bool
    ) throws(RPCError) -> MediaSearch {
        var search: MediaSearch
        if method == .other(.queueAdd), let items = parameters["items"]?.arrayValue {
            search = try resolve(items)
        } else if method == .other(.feedbackGet) || method == .other(.feedbackSet) {
            search = MediaSearch(self, TextBudget(), looksInside: false)
            let uris = parameters["uris"]?.arrayValue ?? [parameters["uri"] ?? .null]
            for case .string(let uri) in uris where !abandoned.isSet { try search.addSingle(uri: uri) }
        } else if method == .other(.queueAdd), let list = parameters["list"]?["descriptor"]?.integerValue {
            search = try resolve(listAt: Int(list), isStrict: isStrict)
        } else {
            // A position refers to the whole file.
            let isAnnouncement = method == .other(.announce)
            search = MediaSearch(
                self, TextBudget(), looksInside: !isAnnouncement && parameters["position"] == nil,
                takesPipes: isAnnouncement)
            try search.add(parameters)
        }
        return search
    }

    /// The refusal of a request with missing media.
    private func refusal(of search: MediaSearch) -> RPCError {
        let first = search.missing.first(where: \.isDenied) ?? search.missing[0]
        let more = search.missingCount > 1 ? " (and \(search.missingCount - 1) more)" : ""
        let line = first.line.map { "line \($0) of the list: " } ?? ""
        let shown = PrintableText.escaped(first.uri, limit: 200)
        var refusal: RPCError
        if first.isDenied {
            refusal = .denied(
                "\(line)permission denied for “\(shown)”: other users can play only files below “media-roots”")
        } else {
            refusal = .noSuchContent(
                "\(line)“\(shown)” \(first.reasonText)\(more)", reason: first.reason,
                uris: search.missing.prefix(100).map(\.uri))
        }
        if let line = first.line { refusal.data["line"] = .integer(Int64(line)) }
        return refusal
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
