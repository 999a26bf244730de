import AudioCore
import ControlProtocol
import ControlServer
import LinuxSystem
import MediaAccess
import NowPlaying
import PlaybackEngine
import StateKeeping

/// Carries out the methods of the queue.
@PlayerLoop final class QueueMethods {
    private let player: Player
    /// Keeps the queue; nil: nothing does.
    private let store: StateStore?

    /// Methods about the queue of this player.
    init(_ player: Player, _ store: StateStore?) {
        self.player = player
        self.store = store
    }

    /// Methods of the queue.
    enum Name { case list, get, changes, add, remove, move, clear, shuffle, prioritize, update }

    /// Carries out a request of the queue, unless the queue has another version than the client expects (`ifVersion`).
    func perform(_ name: Name, _ request: MethodRequest, _ answer: @escaping Answer) {
        if let expected = request.integer("ifVersion"), expected != player.queue.version {
            return answer(.failure(PlayerRefusal.version(player.queue.version).error))
        }
        switch name {
        case .list: list(request, answer)
        case .get: get(request, answer)
        case .changes: answer(changes(request))
        case .add: add(request, answer)
        case .remove: remove(request, answer)
        case .move: move(request, answer)
        case .clear: clear(request, answer)
        case .shuffle: shuffle(request, answer)
        case .prioritize: prioritize(request, answer)
        case .update: update(request, answer)
        }
    }

    /// `queue.get`.
    private func get(_ request: MethodRequest, _ answer: @PlayerLoop (MethodResult) -> Void) {
        guard let id = request.itemID("id"), let entry = player.queue[id] else {
            return answer(.failure(CommandRefusal.noSuchItem.error))
        }
        answer(.encoded(whole(entry)))
    }

    /// `queue.changes`.
    private func changes(_ request: MethodRequest) -> MethodResult {
        let queue = player.queue
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("version", queue.version)
        writer.member("revision", queue.revision)
        if let new = queue.history.changes(since: request.integer("since") ?? 0) {
            StateEncoder.edits(&writer, new.changes)
        } else {
            writer.member("reset", true)
        }
        writer.endObject()
        return .encoded(writer.bytes)
    }

    /// `queue.remove`.
    private func remove(_ request: MethodRequest, _ answer: @escaping Answer) {
        guard let ids = knownItems(request) else { return answer(.failure(CommandRefusal.noSuchItem.error)) }
        player.remove(ids, by: request.client.originator) { [weak self] _ in if let self { answer(version()) } }
    }

    /// `queue.move`.
    private func move(_ request: MethodRequest, _ answer: @PlayerLoop (MethodResult) -> Void) {
        guard let ids = knownItems(request) else { return answer(.failure(CommandRefusal.noSuchItem.error)) }
        guard PlayQueue.distinct(ids).count == ids.count else {
            return answer(.failure(PlayerRefusal.namedTwice.error))
        }
        let index = request.integer("to") ?? 0
        guard index <= player.queue.count - ids.count else {
            return answer(.failure(PlayerRefusal.noIndex(index, count: player.queue.count).error))
        }
        player.move(ids, to: index, by: request.client.originator)
        answer(version())
    }

    /// `queue.clear`.
    private func clear(_ request: MethodRequest, _ answer: @escaping Answer) {
        player.clear(by: request.client.originator) { [weak self] _ in if let self { answer(version()) } }
    }

    /// `queue.shuffle`.
    private func shuffle(_ request: MethodRequest, _ answer: @PlayerLoop (MethodResult) -> Void) {
        let isWhole = request.itemIDs("ids") == nil
        guard let ids = knownItems(request) else { return answer(.failure(CommandRefusal.noSuchItem.error)) }
        player.shuffle(isWhole ? nil : ids, by: request.client.originator)
        answer(version())
    }

    /// `queue.prioritize`.
    private func prioritize(_ request: MethodRequest, _ answer: @PlayerLoop (MethodResult) -> Void) {
        guard let ids = knownItems(request) else { return answer(.failure(CommandRefusal.noSuchItem.error)) }
        let priority = UInt8(clamping: request.integer("priority") ?? 0)
        player.prioritize(ids, priority, by: request.client.originator)
        answer(version())
    }

    /// The items that `ids` names; nil: one of them is not in the queue.
    private func knownItems(_ request: MethodRequest) -> [ItemID]? {
        let ids = request.itemIDs("ids") ?? []
        return ids.allSatisfy { player.queue.index(of: $0) != nil } ? ids : nil
    }

    private func version() -> MethodResult { .success(["version": .integer(Int64(player.queue.version))]) }

    /// `item.update`.
    private func update(_ request: MethodRequest, _ answer: @PlayerLoop (MethodResult) -> Void) {
        guard let id = request.itemID("id") else { return answer(.failure(CommandRefusal.noSuchItem.error)) }
        do throws(CommandRefusal) {
            try player.update(
                id, request.metadata, isForeign: request.client.isForeign, by: request.client.originator)
            answer(version())
        } catch {
            answer(.failure(error.error))
        }
    }

    /// `queue.add`.
    private func add(_ request: MethodRequest, _ answer: @escaping Answer) {
        let by = request.client.originator
        if let index = request.integer("at"), index > player.queue.count {
            return answer(.failure(PlayerRefusal.noIndex(index, count: player.queue.count).error))
        }
        let index = request.bool("next") == true ? player.indexForNext : request.integer("at")
        do throws(CommandRefusal) {
            let ids = try insert(request.addition, at: index, by: by)
            let isList = request.parameters["list"] != nil
            guard request.bool("play") == true, let ids else { return answer(.encoded(added(ids, isList: isList))) }
            player.perform(.playItem(ItemID(ids.lowerBound), position: nil), by: by) { [weak self] result in
                guard let self else { return }
                switch result {
                case .success: answer(.encoded(added(ids, isList: isList)))
                case .failure(let refusal): answer(.failure(refusal.error))
                }
            }
        } catch {
            answer(.failure(error.error))
        }
    }

    private func insert(
        _ addition: Addition?, at index: Int?, by: Originator
    ) throws(CommandRefusal) -> ClosedRange<Int64>? {
        guard let addition else { return nil }
        if let list = addition.list { store?.expect(list, first: addition.first) }
        defer { store?.endExpecting(first: addition.first) }
        let ids = try player.insert(addition.entries, at: index, by: by)
        addition.markUsed()
        return ids
    }

    private func added(_ ids: ClosedRange<Int64>?, isList: Bool) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        if isList {
            writer.member("firstId", ids.map { Int($0.lowerBound) })
            writer.member("count", ids?.count ?? 0)
            writer.member("version", player.queue.version)
            writer.endObject()
            return writer.bytes
        }
        writer.key("ids")
        writer.beginArray()
        if let ids { writer.integers(ids.count) { ids.lowerBound + Int64($0) } }
        writer.endArray()
        writer.member("version", player.queue.version)
        writer.endObject()
        return writer.bytes
    }

    /// `queue.list`.
    private func list(_ request: MethodRequest, _ answer: @PlayerLoop (MethodResult) -> Void) {
        let queue = player.queue
        let first = min(request.integer("offset") ?? 0, queue.count)
        let limit = request.integer("limit") ?? Catalogue.usualPage
        let last = min(queue.count, first + limit)
        var shown = first..<last
        let fields = request.array("fields")?.compactMap { $0.stringValue.flatMap(ItemField.init) }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("version", queue.version)
        writer.member("revision", queue.revision)
        writer.member("count", queue.count)
        writer.key("items")
        writer.beginArray()
        if fields != nil || limit > Catalogue.largestWholePage {
            let page = ItemPage(player, ItemField.distinct(fields ?? ItemField.usual))
            let end = page.write(first..<last, to: &writer)
            shown = first..<end
            writer.endArray()
            if end < queue.count, end > first { writer.member("next", end) }
        } else {
            for entry in queue.entries[first..<last] { usual(entry, to: &writer) }
            writer.endArray()
        }
        writer.endObject()
        answer(.encoded(writer.bytes))
        player.listed(shown)
    }

    private func usual(_ entry: QueueEntry, to writer: inout JSONWriter) {
        let metadata = entry.details?.metadata
        writer.beginObject()
        writer.member("id", Int(entry.id.number))
        writer.member("uri", entry.source.uri)
        writer.member("title", metadata?.title ?? entry.source.displayName)
        writer.member("artist", metadata?.artist)
        writer.member("albumTitle", metadata?.albumTitle)
        writer.member("duration", entry.details?.duration)
        writer.endObject()
    }

    private func whole(_ entry: QueueEntry) -> [UInt8] {
        var metadata = entry.details?.metadata ?? MediaMetadata()
        if metadata.title == nil { metadata.title = entry.source.displayName }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("id", Int(entry.id.number))
        writer.member("uri", entry.source.uri)
        StateEncoder.metadata(&writer, metadata)
        StateEncoder.chapters(&writer, metadata.chapters ?? [], limit: nil)
        StateEncoder.adTimeRanges(&writer, metadata.adTimeRanges ?? [], limit: nil)
        StateEncoder.texts(&writer, metadata.texts ?? [])
        writer.member("duration", entry.details?.duration)
        writer.member("priority", player.queue.priorities[entry.id].map(Int.init))
        writer.endObject()
        return writer.bytes
    }
}
