import ControlProtocol
import LinuxSystem
import MPDProtocol
import NowPlaying

/// Commands for stickers: notes of clients on songs, playlists, tags and filters.
@PlayerLoop final class StickerDesk: CommandDesk {
    private let daemon: DaemonCalls
    private let links: LinkPool
    private let names: SongNameTable
    private let store: StickerThread
    private let onChange: @PlayerLoop () -> Void

    private static let noSticker = MPDFailure(.noExist, "no such sticker")
    /// Bytes of memory of a found song, without its uri.
    private static let costOfFound = 128
    private static let badRequest = MPDFailure(.argument, "bad request")

    /// A desk at the daemon and at the library of these connections. `onChange` is called at each change of a sticker.
    init(
        _ daemon: DaemonCalls, _ links: LinkPool, _ names: SongNameTable, _ store: StickerThread,
        _ onChange: @escaping @PlayerLoop () -> Void
    ) {
        self.daemon = daemon
        self.links = links
        self.names = names
        self.store = store
        self.onChange = onChange
    }

    func perform(_ request: MPDRequest, for client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        let arguments = request.arguments
        switch request.command {
        case .stickertypes:
            for type in StickerType.allNames { client.write { $0.pair("stickertype", type) } }
            return finish(.ok)
        case .stickernames, .stickernamestypes:
            let wanted = try arguments.first.map { argument throws(MPDFailure) in try StickerType(argument) }
            return names(withTypes: request.command == .stickernamestypes, wanted, client, finish)
        case _: break
        }
        let type = try StickerType(arguments[1])
        switch (arguments[0].text, arguments.count) {
        case ("get", 4), ("set", 5), ("inc", 5), ("dec", 5), ("delete", 3...4), ("list", 3...5):
            subject(type, arguments[2], client, finish) { [weak self, weak client] subject in
                guard let self, let client else { return finish(.ok) }
                do throws(MPDFailure) { try carry(out: arguments, on: subject, client, finish) } catch {
                    finish(.failed(error))
                }
            }
        case ("find", 4...): try find(type, arguments, client, finish)
        case (_, _): throw Self.badRequest
        }
    }

    private func carry(
        out arguments: [Argument], on subject: StickerSubject, _ client: MPDClient, _ finish: @escaping Finish
    ) throws(MPDFailure) {
        let name = arguments.count > 3 ? arguments[3].text : ""
        let value = arguments.count > 4 ? arguments[4].text : ""
        let feedback = subject.type == "song" ? FeedbackSticker(rawValue: name) : nil
        switch arguments[0].text {
        case "get":
            if let feedback { return get(feedback, subject, client, finish) }
            ask(client, finish) { store throws(MPDFailure) in
                try store.value(subject, name)
            } _: { client, found in
                guard let found else { return finish(.failed(Self.noSticker)) }
                client.write { $0.sticker(name, found) }
                finish(.ok)
            }
        case "set":
            if let feedback { return try set(feedback, value, subject, client, finish) }
            change(client, finish) { store throws(MPDFailure) in try store.set(subject, name, value) }
        case "inc", "dec":
            guard let step = Int64(value) else { throw MPDFailure(.argument, "Integer expected: \(value)") }
            let adds = arguments[0].text == "inc"
            @Sendable func sum(_ old: Int64) throws(MPDFailure) -> String {
                let new = adds ? old.addingReportingOverflow(step) : old.subtractingReportingOverflow(step)
                guard !new.overflow else { throw MPDFailure(.argument, "Number too large: \(value)") }
                return String(new.partialValue)
            }
            if let feedback {
                return feedbackItem(subject, client) { [weak self, weak client] result in
                    let old = (try? result.get()).flatMap { feedback.value(ofItem: $0) }.flatMap { Int64($0) } ?? 0
                    guard let self, let client else { return finish(.ok) }
                    do throws(MPDFailure) { try set(feedback, try sum(old), subject, client, finish) } catch {
                        finish(.failed(error))
                    }
                }
            }
            change(client, finish) { store throws(MPDFailure) in
                let old = try store.value(subject, name).flatMap { Int64($0) } ?? 0
                try store.set(subject, name, try sum(old))
            }
        case "delete":
            if let feedback {
                return get(feedback, subject, client, writes: false) { [weak self, weak client] outcome in
                    guard outcome == .ok, let self, let client else { return finish(outcome) }
                    do throws(MPDFailure) { try set(feedback, nil, subject, client, finish) } catch {
                        finish(.failed(error))
                    }
                }
            }
            let isWhole = arguments.count == 3
            ask(client, finish) { store throws(MPDFailure) in
                try store.remove(subject, isWhole ? nil : name)
            } _: { [weak self] client, wasThere in
                guard let self else { return finish(.ok) }
                if subject.type == "song", isWhole {
                    return clear([.rating, .like], of: subject, wasThere: wasThere, client, finish)
                }
                wasThere ? changed(finish) : finish(.failed(Self.noSticker))
            }
        case _:
            guard arguments.count == 3 || arguments.count == 5 && arguments[3].text == "sort" else {
                throw Self.badRequest
            }
            list(subject, client, finish)
        }
    }

    /// Answers all stickers of a subject.
    private func list(_ subject: StickerSubject, _ client: MPDClient, _ finish: @escaping Finish) {
        let most = client.source.mostHeld
        ask(client, finish) { store throws(MPDFailure) in
            try store.values(subject, most: most)
        } _: { [weak self] client, own in
            guard let self else { return finish(.ok) }
            let share = client.share()
            guard share.hold(own.reduce(0) { $0 + StickerStore.cost($1.name, $1.value) }) else {
                return finish(.failed(HeldShare.tooMuch))
            }
            guard subject.type == "song" else {
                return client.answer(
                    StickerAnswer(own[...], share) { $0.sticker($1.name, $1.value) }, finish)
            }
            feedbackItem(subject, client) { [weak client] result in
                var all = own
                if let item = try? result.get() {
                    all += FeedbackSticker.allCases.compactMap { one in
                        one.value(ofItem: item).map { (one.rawValue, $0) }
                    }
                }
                all.sort { $0.name < $1.name }
                guard let client else { return finish(.ok) }
                client.answer(StickerAnswer(all[...], share) { $0.sticker($1.name, $1.value) }, finish)
            }
        }
    }

    // MARK: The store

    /// Asks the store for a client, and calls `done` with the answer. A failure ends the command.
    private func ask<Answer: Sendable>(
        _ client: MPDClient, _ finish: @escaping Finish,
        _ question: @escaping @Sendable (StickerStore) throws(MPDFailure) -> Answer,
        _ done: @escaping @PlayerLoop (MPDClient, Answer) -> Void
    ) {
        store.ask(client.source, question) { [weak client] result in
            switch result {
            case .failure(let failure): finish(.failed(failure))
            case .success(let answer):
                guard let client else { return finish(.ok) }
                done(client, answer)
            }
        }
    }

    /// Changes the store for a client, which ends the command.
    private func change(
        _ client: MPDClient, _ finish: @escaping Finish,
        _ change: @escaping @Sendable (StickerStore) throws(MPDFailure) -> Void
    ) {
        store.ask(client.source, change) { [weak self] result in
            switch result {
            case .failure(let failure): finish(.failed(failure))
            case .success: self?.changed(finish)
            }
        }
    }

    private func changed(_ finish: @escaping Finish) {
        onChange()
        finish(.ok)
    }

    // MARK: Subjects

    /// Calls `done` with the subject of a request, if it exists.
    private func subject(
        _ type: StickerType, _ argument: Argument, _ client: MPDClient, _ finish: @escaping Finish,
        _ done: @escaping @PlayerLoop (StickerSubject) -> Void
    ) {
        switch type {
        case .song:
            let absent = MPDFailure(.noExist, "No such song")
            guard !SongNames.isTop(argument.bytes), let uri = names.names.uri(of: argument.bytes) else {
                return finish(.failed(absent))
            }
            let parameters = JSONObject([.init("uris", [.string(uri)]), .init("fields", ["uri"])])
            links.link(for: client.user).call("library.get", parameters) { result in
                guard case .success(let reply) = result,
                    let found = reply.value["rows"]?.arrayValue?.first?["uri"]?.stringValue
                else { return finish(.failed(absent)) }
                done(StickerSubject(type: "song", key: found))
            }
        case .playlist:
            let parameters = JSONObject([.init("name", .string(argument.text)), .init("limit", 1)])
            links.link(for: client.user).call("lists.get", parameters) { result in
                guard case .success = result else {
                    return finish(.failed(MPDFailure(.noExist, "no such playlist")))
                }
                done(StickerSubject(type: "playlist", key: argument.text))
            }
        case .tag(let tag):
            guard !argument.bytes.isEmpty else {
                return finish(.failed(MPDFailure(.noExist, "no such tag")))
            }
            done(StickerSubject(type: tag.rawValue, key: argument.text))
        case .filter:
            do throws(MPDFailure) { try FilterParser(foldsCase: false).filter([argument]).check() } catch {
                return finish(.failed(error))
            }
            done(StickerSubject(type: "filter", key: argument.text))
        }
    }

    // MARK: Feedback

    /// Calls `done` with the daemon's feedback of a song.
    private func feedbackItem(
        _ subject: StickerSubject, _ client: MPDClient,
        _ done: @escaping @PlayerLoop (Result<JSONValue, MPDFailure>) -> Void
    ) {
        daemon.ask("feedback.get", ["uris": [.string(subject.key)]], for: client) { result in
            done(result.map { $0["items"]?.arrayValue?.first ?? [:] })
        }
    }

    /// Reads the value, and writes it for the client.
    private func get(
        _ feedback: FeedbackSticker, _ subject: StickerSubject, _ client: MPDClient, writes: Bool = true,
        _ finish: @escaping Finish
    ) {
        feedbackItem(subject, client) { [weak client] result in
            switch result {
            case .failure(let failure): finish(.failed(failure))
            case .success(let item):
                guard let value = feedback.value(ofItem: item) else { return finish(.failed(Self.noSticker)) }
                if writes { client?.write { $0.sticker(feedback.rawValue, value) } }
                finish(.ok)
            }
        }
    }

    private func set(
        _ feedback: FeedbackSticker, _ value: String?, _ subject: StickerSubject, _ client: MPDClient,
        _ finish: @escaping Finish
    ) throws(MPDFailure) {
        var changes = try feedback.changes(value)[...]
        guard let first = changes.popFirst() else { return finish(.ok) }
        let rest = changes.first
        daemon.call("feedback.set", .object(JSONObject([.init("uri", .string(subject.key)), first])), for: client) {
            [weak self, weak client] outcome in
            guard outcome == .ok, let self, let client else { return finish(outcome) }
            guard let rest else { return changed(finish) }
            daemon.call("feedback.set", .object(JSONObject([.init("uri", .string(subject.key)), rest])), for: client) {
                [weak self] outcome in
                guard outcome == .ok, let self else { return finish(outcome) }
                changed(finish)
            }
        }
    }

    /// Removes the feedback that clients may change.
    private func clear(
        _ left: [FeedbackSticker], of subject: StickerSubject, wasThere: Bool, _ client: MPDClient,
        _ finish: @escaping Finish
    ) {
        guard let first = left.first else {
            guard wasThere else { return finish(.failed(Self.noSticker)) }
            return changed(finish)
        }
        get(first, subject, client, writes: false) { [weak self, weak client] outcome in
            guard let self, let client else { return finish(.ok) }
            let next: @PlayerLoop (Bool) -> Void = { [weak self, weak client] in
                guard let self, let client else { return finish(.ok) }
                clear(Array(left.dropFirst()), of: subject, wasThere: $0, client, finish)
            }
            guard outcome == .ok else { return next(wasThere) }
            do throws(MPDFailure) { try set(first, nil, subject, client) { _ in next(true) } } catch {
                finish(.failed(error))
            }
        }
    }

    // MARK: Finding

    private func find(
        _ type: StickerType, _ given: [Argument], _ client: MPDClient, _ finish: @escaping Finish
    ) throws(MPDFailure) {
        var arguments = Array(given.dropFirst(4))
        let tail = try StickerTail(&arguments)
        let test = try StickerTest(arguments)
        let name = given[3].text
        let base = SongNames.trimmed(given[2].bytes)
        let share = client.share()
        let most = client.source.mostHeld
        let names = names.names
        // Compares and sorts on the thread of the store.
        let choose: @Sendable ([(key: String, value: String)]) -> ArraySlice<FoundSticker> = { found in
            var rows: [FoundSticker] = []
            for entry in found where test.fits(entry.value) {
                let shown = type == .song ? names.name(of: entry.key) : Array(entry.key.utf8)
                guard type != .song || base.isEmpty || shown.starts(with: base + [UInt8(ascii: "/")]) else { continue }
                rows.append(FoundSticker(name: shown, value: entry.value))
            }
            return tail.sorted(rows)
        }
        let answer: @PlayerLoop (MPDClient, ArraySlice<FoundSticker>) -> Void = { client, rows in
            guard share.hold(rows.reduce(0) { $0 + StickerStore.cost($1.value) + $1.name.count }) else {
                return finish(.failed(HeldShare.tooMuch))
            }
            let answer = StickerAnswer(rows, share) { writer, row in
                writer.pair(prefix: type.key, row.name)
                writer.sticker(name, row.value)
            }
            client.answer(answer, finish)
        }
        guard type == .song, let feedback = FeedbackSticker(rawValue: name) else {
            return ask(client, finish) { store throws(MPDFailure) in
                choose(try store.all(type.name, name, most: most))
            } _: {
                answer($0, $1)
            }
        }
        var found: [(key: String, value: String)] = []
        var hasRoom = true
        let parameters = JSONObject([
            .init("filter", feedback.filter), .init("sort", SongQuestion.usualOrder),
            .init("fields", ["uri", .string(feedback.field)]),
        ])
        PageFeed(links.link(for: client.user), "library.query", parameters).drain { row in
            guard hasRoom, let uri = row["uri"]?.stringValue, let value = feedback.value(ofRow: row) else { return }
            hasRoom = share.add(uri.utf8.count + Self.costOfFound)
            found.append((uri, value))
        } _: { [weak self, weak client] failure in
            if let failure = failure ?? (hasRoom ? nil : HeldShare.tooMuch) { return finish(.failed(failure)) }
            guard let self, let client else { return finish(.ok) }
            let all = found
            ask(client, finish) { _ in choose(all) } _: { answer($0, $1) }
        }
    }

    private func names(
        withTypes: Bool, _ type: StickerType?, _ client: MPDClient, _ finish: @escaping Finish
    ) {
        let most = client.source.mostHeld
        ask(client, finish) { store throws(MPDFailure) in
            var all = try store.names(most: most)
            all += FeedbackSticker.allCases.map { ($0.rawValue, "song") }
            all = all.filter { type == nil || type?.name == $0.type }.sorted { ($0.name, $0.type) < ($1.name, $1.type) }
            // A name of several types is one row, unless the answer has the types.
            guard !withTypes else { return all }
            return zip(all.indices, all).filter { $0 == 0 || all[$0 - 1].name != $1.name }.map(\.1)
        } _: { client, all in
            let share = client.share()
            guard share.hold(all.reduce(0) { $0 + StickerStore.cost($1.name, $1.type) }) else {
                return finish(.failed(HeldShare.tooMuch))
            }
            let answer = StickerAnswer(all[...], share) { writer, row in
                writer.pair("name", row.name)
                if withTypes { writer.pair("type", row.type) }
            }
            client.answer(answer, finish)
        }
    }
}
