package import AudioCore
import CLinux
package import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import PlaybackEngine

/// Turns what a client named into what can be played: looks whether it exists and whether this client may have it, and
/// opens folders. Runs on a worker thread, since every look at a disk may block.
package struct MediaResolver: Sendable {
    /// Folders below which paths are accepted while their disk is not mounted, and outside of which a foreign peer may
    /// name nothing.
    package let roots: MediaRoots
    /// Whether the peer is of another uid than the daemon (and not root).
    package let isForeign: Bool
    /// Entries of one request, at most.
    package let limit: Int
    /// The open files that came with the line.
    package let descriptors: [OwnedDescriptor]
    /// Set when nobody waits any more.
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

    /// Whether a request names media at all.
    package static func isNeeded(_ method: MethodName, _ parameters: JSONObject) -> Bool {
        switch method {
        case .queueAdd: true
        case .play: parameters["uri"] != nil || parameters["descriptor"] != nil
        default: false
        }
    }

    /// What the request names, in order, all or nothing. Throws 403 if one of the names is none of the peer's business,
    /// else 100 with all that can't be played.
    package func resolve(_ method: MethodName, _ parameters: JSONObject) throws(RPCError) -> [ResolvedMedia] {
        var result: Result
        if method == .queueAdd, let items = parameters["items"]?.arrayValue {
            result = try resolve(items)
        } else {
            result = Result()
            var probe = PathProbe()
            try add(parameters, to: &result, &probe)
        }
        if let first = result.missing.first {
            let more = result.missing.count > 1 ? " (and \(result.missing.count - 1) more)" : ""
            throw .noSuchContent(
                "“\(PrintableText.escaped(first.uri, limit: 200))” \(first.words)\(more)", reason: first.reason,
                uris: result.missing.prefix(100).map(\.uri))
        }
        return result.media
    }

    /// A look at a disk takes microseconds even when all is in memory: many items are looked for on two threads.
    private func resolve(_ items: [JSONValue]) throws(RPCError) -> Result {
        let middle = items.count < 256 ? 0 : items.count / 2
        if middle == 0 { return try resolve(items[...]) }
        let halves = Parallel.map(2) { place -> Swift.Result<Result, RPCError> in
            do throws(RPCError) {
                return .success(try resolve(place == 0 ? items[..<middle] : items[middle...]))
            } catch {
                return .failure(error)
            }
        }
        var result = try halves[0].get()
        let rest = try halves[1].get()
        result.media += rest.media
        result.missing += rest.missing
        if result.media.count > limit { throw tooMany }
        return result
    }

    private func resolve(_ items: ArraySlice<JSONValue>) throws(RPCError) -> Result {
        var result = Result()
        var probe = PathProbe()
        result.media.reserveCapacity(items.count)
        for item in items {
            if abandoned.isSet { break }
            switch item {
            case .string(let uri): try add(uri: uri, nil, to: &result, &probe)
            case .object(let object): try add(object, to: &result, &probe)
            default: break
            }
        }
        return result
    }

    private struct Missing: Sendable {
        let uri: String
        let words: String
        var reason: String?
    }

    private struct Result: Sendable {
        var media: [ResolvedMedia] = []
        var missing: [Missing] = []
    }

    private func add(
        _ object: JSONObject, to result: inout Result, _ probe: inout PathProbe
    ) throws(RPCError) {
        let given = MediaMetadata(fields: object)
        let details = given == MediaMetadata() ? nil : ItemDetails(given: given)
        guard let place = object["descriptor"]?.integerValue else {
            if let uri = object["uri"]?.stringValue { try add(uri: uri, details, to: &result, &probe) }
            return
        }
        guard descriptors.indices.contains(Int(place)) else {
            throw .invalidParameter("descriptor", "no descriptor \(place) came with this line")
        }
        let descriptor = descriptors[Int(place)]
        let name = object["uri"]?.stringValue ?? "descriptor:\(place)"
        var status = stat()
        let flags = linux_flags(descriptor.number)
        guard fstat(descriptor.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG, flags >= 0,
            flags & O_ACCMODE != O_WRONLY, flags & LINUX_O_PATH == 0
        else {
            result.missing.append(Missing(uri: name, words: "is not a regular file opened for reading"))
            return
        }
        result.media.append(ResolvedMedia(source: .descriptor(descriptor, name: name), details: details))
    }

    private func add(
        uri: String, _ details: ItemDetails?, to result: inout Result, _ probe: inout PathProbe
    ) throws(RPCError) {
        let path: FilePath
        switch MediaAddress(uri) {
        case .path(let found): path = found
        case .unplayable(let words):
            result.missing.append(Missing(uri: uri, words: words))
            return
        }
        let kind: mode_t
        switch try look(path, &probe) {
        case .success(let mode): kind = mode & S_IFMT
        case .failure(let failure):
            if failure.code == ENOENT, let place = roots.place(of: path), !place.relative.leadsUp,
                roots.isUnmounted(place.root)
            {
                kind = S_IFREG
                break
            }
            let reason = failure.code == EACCES || failure.code == EPERM ? "permission" : nil
            let words = "can't be had: \(failure.words)"
            result.missing.append(Missing(uri: uri, words: words, reason: reason))
            return
        }
        switch kind {
        case S_IFREG:
            guard result.media.count < limit else { throw tooMany }
            result.media.append(ResolvedMedia(source: source(path), details: details))
        case S_IFDIR:
            var walk = FolderWalk(
                roots: isForeign ? roots : nil, limit: limit - result.media.count, abandoned: abandoned)
            walk.walk(path)
            if walk.isTooMany { throw tooMany }
            if walk.files.isEmpty {
                result.missing.append(Missing(uri: uri, words: "is a folder without audio files that can be read"))
            }
            for file in walk.files { result.media.append(ResolvedMedia(source: source(file), details: details)) }
        default:
            result.missing.append(Missing(uri: uri, words: "is neither a regular file nor a folder"))
        }
    }

    /// What is judged by its folder is judged again when it is opened.
    private func source(_ path: FilePath) -> MediaSource {
        guard isForeign, let place = roots.place(of: path) else { return .file(path) }
        return .confined(place)
    }

    private var tooMany: RPCError {
        .commandFailed("tooMany", "more than \(limit) entries; the queue takes no more")
    }

    private struct LookFailure: Error {
        let code: Int32
        var words: String { SystemError.words(code).lowercased() }
    }

    /// The mode of what is at the path; 403 if a foreign peer may not know.
    private func look(
        _ path: FilePath, _ probe: inout PathProbe
    ) throws(RPCError) -> Swift.Result<mode_t, LookFailure> {
        guard isForeign else {
            let mode = probe.look(path)
            return mode < 0 ? .failure(LookFailure(code: Int32(-mode))) : .success(mode_t(mode))
        }
        var status = stat()
        let denied = RPCError.denied("media outside the folders of “media-roots” can't be named by other users")
        guard let place = roots.place(of: path) else { throw denied }
        let opened = place.locate()
        guard opened >= 0 else {
            // A missing root hides nothing; everything that leads out of one does.
            guard opened == -ENOENT || opened == -EACCES || opened == -ENOTDIR || opened == -ENAMETOOLONG else {
                throw denied
            }
            return .failure(LookFailure(code: -opened))
        }
        defer { close(opened) }
        guard fstat(opened, &status) == 0 else { return .failure(LookFailure(code: errno)) }
        return .success(status.st_mode)
    }
}
