import AudioCore
import AudioDecoders
import CLinux
import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import PlaybackEngine

/// The work of a `MediaResolver` on one thread: the found and the missing media, in the order of the request.
struct MediaSearch: Sendable {

    let resolver: MediaResolver
    let door: MediaDoor
    let budget: TextBudget
    /// True if named files are searched for embedded cue sheets.
    let looksInside: Bool
    /// True if a pipe may replace a file.
    let takesPipes: Bool
    private(set) var media: [ResolvedMedia] = []
    /// The first of the missing media.
    private(set) var missing: [MissingMedia] = []
    /// Number of the missing media.
    private(set) var missingCount = 0
    /// Finds files by names that are not exactly theirs.
    let lookup: NameLookup
    private let probe = ProbeBox()
    /// Lists and folders of the present item: each is opened once.
    private var seen: Set<FileIdentity> = []
    /// The sheet that was used last; its tracks are mostly named one after the other.
    private(set) var lastSheet: (path: FilePath, sheet: LocatedSheet)?

    /// Keeps the probe, which cannot be copied.
    private final class ProbeBox: @unchecked Sendable {
        // @unchecked: one thread at a time uses a search.
        var probe = PathProbe()
    }

    /// A search that has found nothing. All lists of the request share `budget`, and `lookup`; nil: a new one.
    init(
        _ resolver: MediaResolver, _ budget: TextBudget, looksInside: Bool, takesPipes: Bool = false,
        lookup: NameLookup? = nil
    ) {
        self.resolver = resolver
        self.budget = budget
        self.looksInside = looksInside
        self.takesPipes = takesPipes
        let door = MediaDoor(roots: resolver.isForeign ? resolver.roots : nil, abandoned: resolver.abandoned)
        self.door = door
        self.lookup = lookup ?? NameLookup(door)
    }

    /// Reserves memory for this number of items.
    mutating func reserve(_ count: Int) { media.reserveCapacity(count) }

    /// Appends the results of another search, of the next part of the request. Throws if they are more items than the
    /// queue accepts.
    mutating func append(_ next: MediaSearch) throws(RPCError) {
        guard media.count + next.media.count <= resolver.limit else { throw tooMany }
        media += next.media
        missing += next.missing.prefix(MissingMedia.most - missing.count)
        missingCount += next.missingCount
    }

    /// Notes the line of the list for the missing media after the first `count`.
    mutating func setLine(_ line: Int, ofMissingAfter count: Int) {
        for index in count..<missing.count { missing[index].line = line }
    }

    /// True if the list or folder was not opened for this item before. It counts as opened from now on.
    mutating func isNew(_ path: FilePath) -> Bool { door.identity(path).map { seen.insert($0).inserted } ?? false }

    /// Remembers the sheet at, or inside, the file at `path`.
    mutating func remember(_ sheet: LocatedSheet, at path: FilePath) { lastSheet = (path, sheet) }

    /// Adds an item with `uri` or `descriptor` and fields.
    mutating func add(_ object: JSONObject) throws(RPCError) {
        let given = MediaMetadata(fields: object)
        let isOwn = !resolver.isForeign && given.namesPictures
        let details = given == MediaMetadata() ? nil : ItemDetails(given: given, hasOwnPictures: isOwn)
        guard let index = object["descriptor"]?.integerValue else {
            if let uri = object["uri"]?.stringValue { try add(uri: uri, details) }
            return
        }
        guard resolver.descriptors.indices.contains(Int(index)) else {
            throw .invalidParameter("descriptor", "the line carries no descriptor \(index)")
        }
        let descriptor = resolver.descriptors[Int(index)]
        let name = object["uri"]?.stringValue ?? "descriptor:\(index)"
        var status = stat()
        let flags = linux_flags(descriptor.number)
        let isRead = fstat(descriptor.number, &status) == 0
        let kind = status.st_mode & S_IFMT
        guard isRead, kind == S_IFREG || (takesPipes && kind == S_IFIFO), flags >= 0,
            flags & O_ACCMODE != O_WRONLY, flags & LINUX_O_PATH == 0
        else {
            return note(name, "is not a regular file\(takesPipes ? " or pipe" : "") opened for reading", from: nil)
        }
        media.append(ResolvedMedia(source: .descriptor(descriptor, name: name), details: details))
    }

    /// Adds the media of a uri of the request.
    mutating func add(uri: String, _ details: ItemDetails?) throws(RPCError) {
        seen.removeAll()
        try add(uri: uri, details, from: nil)
    }

    /// Adds the regular file at an absolute path of the request, without details. False: nothing is added, because there is no
    /// such file, it is a list, or a foreign peer may not see it.
    mutating func addFile(_ path: FilePath) throws(RPCError) -> Bool {
        guard case .success(let mode) = look(path), mode & S_IFMT == S_IFREG,
            PlaylistKind(fileName: path.name) == nil
        else { return false }
        try append(ResolvedMedia(source: door.source(path), details: nil))
        return true
    }

    /// Adds the single item of a uri that is neither a folder nor a list.
    mutating func addSingle(uri: String) throws(RPCError) {
        guard case .path(let path) = MediaAddress(uri) else { return try add(uri: uri, nil) }
        guard let kind = kind(of: path, uri: uri, from: nil) else { return }
        if kind == S_IFDIR { return note(uri, "is a folder: name one of its files", from: nil) }
        if kind == S_IFREG, PlaylistKind(fileName: path.name) != nil {
            return note(uri, "is a playlist: name one of its items", from: nil)
        }
        try add(path, kind, nil, uri: uri, from: nil)
    }

    /// Adds the media of a uri. `list`: the list that names it; nil: the request.
    mutating func add(uri: String, _ details: ItemDetails?, from list: ListOrigin?) throws(RPCError) {
        switch MediaAddress(uri) {
        case .unplayable(let words): note(uri, words, from: list)
        case .remote(let address, let shown):
            let remote = RemoteMedia(address: address, shownAddress: shown, mayUseLoopback: !resolver.isForeign)
            try append(ResolvedMedia(source: .remote(remote), details: details))
        case .path(let path):
            guard let kind = kind(of: path, uri: uri, from: list) else { return }
            try add(path, kind, details, uri: uri, from: list)
        case .track(let path, let number):
            guard kind(of: path, uri: uri, from: list) != nil else { return }
            try addTrack(number, of: path, details, uri: uri, from: list)
        }
    }

    /// Adds the media at a path of this kind.
    mutating func add(
        _ path: FilePath, _ kind: mode_t, _ details: ItemDetails?, uri: String, from list: ListOrigin?
    ) throws(RPCError) {
        switch kind {
        case S_IFREG:
            if let kind = PlaylistKind(fileName: path.name) {
                return try addList(path, kind, details, uri: uri, from: list)
            }
            if looksInside, list == nil, details == nil, let sheet = door.embeddedSheet(at: path) {
                return try add(sheet.tracks, audio: path, sheet: path, nil)
            }
            try append(ResolvedMedia(source: door.source(path), details: details))
        case S_IFDIR: try addFolder(path, details, uri: uri, from: list)
        default: note(uri, "is neither a regular file nor a folder", from: list)
        }
    }

    private mutating func addFolder(
        _ path: FilePath, _ details: ItemDetails?, uri: String, from list: ListOrigin?
    ) throws(RPCError) {
        if list != nil, !isNew(path) { return }
        var walk = FolderWalk(door, budget, limit: resolver.limit - media.count)
        walk.walk(path)
        if walk.isTooMany { throw tooMany }
        if walk.found.isEmpty { note(uri, "is a folder without readable audio files", from: list) }
        for item in walk.found {
            switch item {
            case .file(let source): try append(ResolvedMedia(source: source, details: details))
            case .tracks(let tracks, let audio, let sheet): try add(tracks, audio: audio, sheet: sheet, details)
            }
        }
    }

    /// Adds an item. Throws if the request names more items than the queue accepts.
    mutating func append(_ item: ResolvedMedia) throws(RPCError) {
        guard media.count < resolver.limit else { throw tooMany }
        media.append(item)
    }

    /// Notes a missing source: `words` follow the uri, `reason` is for programs.
    mutating func note(_ uri: String, _ words: String, from list: ListOrigin?, reason: RPCError.Reason? = nil) {
        note(MissingMedia(uri: uri, words: words, list: list?.name, reason: reason))
    }

    /// Notes a source that a foreign peer may not see. Of the path in a list it gets to know the last name at most.
    mutating func noteDenied(_ uri: String, from list: ListOrigin?) {
        let name = list == nil ? uri : uri.split(separator: "/").last.map(String.init) ?? ""
        note(MissingMedia(uri: name, words: MissingMedia.denied, list: list?.name, isDenied: true))
    }

    private mutating func note(_ media: MissingMedia) {
        missingCount += 1
        if missing.count < MissingMedia.most { missing.append(media) }
    }

    private var tooMany: RPCError {
        .commandFailed(.tooMany, "more than \(resolver.limit) items, the limit of the queue")
    }

    /// Kind of the file at a path; nil: it cannot be opened, or a foreign peer may not see it, which is noted.
    mutating func kind(of path: FilePath, uri: String, from list: ListOrigin?) -> mode_t? {
        switch look(path) {
        case .success(let mode): return mode & S_IFMT
        case .failure(let failure):
            if isUnmounted(path, failure) { return S_IFREG }
            note(failure, uri, from: list)
            return nil
        }
    }

    /// Notes that the media at this uri cannot be opened, with the reason.
    mutating func note(_ failure: LookFailure, _ uri: String, from list: ListOrigin?) {
        if failure == .denied { return noteDenied(uri, from: list) }
        let isForbidden = failure.code == EACCES || failure.code == EPERM
        note(uri, "cannot be opened: \(failure.words)", from: list, reason: isForbidden ? .permission : nil)
    }

    /// True if the file may be on the unmounted disk of a root.
    func isUnmounted(_ path: FilePath, _ failure: LookFailure) -> Bool {
        guard failure.code == ENOENT, let confined = resolver.roots.confinedPath(of: path), !confined.relative.leadsUp
        else {
            return false
        }
        return resolver.roots.isUnmounted(confined.root)
    }

    /// The mode of the file at the path.
    func look(_ path: FilePath) -> Result<mode_t, LookFailure> {
        guard let roots = door.roots else {
            let mode = probe.probe.look(path)
            return mode < 0 ? .failure(LookFailure(code: Int32(-mode))) : .success(mode_t(mode))
        }
        var status = stat()
        guard let confined = roots.confinedPath(of: path) else { return .failure(.denied) }
        let opened = confined.locate()
        guard opened >= 0 else {
            // A missing root reveals nothing; a path that leads out of one would.
            guard opened == -ENOENT || opened == -EACCES || opened == -ENOTDIR || opened == -ENAMETOOLONG else {
                return .failure(.denied)
            }
            return .failure(LookFailure(code: -opened))
        }
        defer { close(opened) }
        guard fstat(opened, &status) == 0 else { return .failure(LookFailure(code: errno)) }
        return .success(status.st_mode)
    }
}

/// The reason why a path cannot be opened.
struct LookFailure: Error, Equatable {
    /// The error number (`errno`).
    let code: Int32

    /// A foreign peer may not see the path, whether it exists or not.
    static let denied = LookFailure(code: EXDEV)
    /// Several files have the name but for the case of its letters.
    static let ambiguous = LookFailure(code: ENOTUNIQ)

    /// True if the file may exist under another spelling of its name.
    var isAbsence: Bool { code == ENOENT || code == ENOTDIR }

    var words: String {
        self == .ambiguous
            ? "several files differ from this name in capital letters only" : SystemError.words(code).lowercased()
    }
}
