import ControlProtocol
import Glibc

/// Requests during the playback. Each leaves `main` playing, or about to.
extension Soak {
    /// Does one thing.
    func doSomething() {
        let all: [(name: String, weight: Int, act: () -> Void)] = [
            ("seek", 8, seek), ("next", 3, { self.ask("nextTrack") }), ("previous", 1, { self.ask("previousTrack") }),
            ("skip", 2, { self.ask(self.chance(2) == 0 ? "skipForward" : "skipBackward", ["interval": 0.7]) }),
            ("pause", 3, pause), ("stop", 1, stop), ("feedback", 4, giveFeedback), ("announcement", 3, announce),
            ("session", 2, { self.guests.play(self) }), ("external session", 2, { self.guests.publish(self) }),
            ("subscriber", 4, { self.guests.subscribe(self) }), ("nonsense", 1, { self.guests.talkNonsense(self) }),
            ("artwork", 3, getArtwork), ("queue edit", 3, editQueue), ("file handed over", 1, handOver),
            ("broken file", 1, addBroken), ("questions", 2, askQuestions), ("rate", 1, changeRate),
            ("modes", 1, changeModes), ("settings", 2, changeSettings), ("scan", 1, scan),
        ]
        let chosen = all.filter { plan.deeds.isEmpty || plan.deeds.contains($0.name) }
        var number = chance(chosen.reduce(0) { $0 + $1.weight })
        for deed in chosen {
            number -= deed.weight
            guard number < 0 else { continue }
            note(deed.name)
            return deed.act()
        }
    }

    /// Asks for something of `main`; refusals are as good as answers.
    @discardableResult func ask(_ method: String, _ parameters: JSONValue = [:], of session: String? = "main")
        -> JSONValue?
    {
        var parameters = parameters.objectValue ?? JSONObject()
        if let session { parameters["session"] = .string(session) }
        return client.call(method, .object(parameters))
    }

    private var item: JSONValue { .integer(state.itemID ?? 1) }

    private func seek() {
        guard let duration = state["item"]?["duration"]?.doubleValue else { return }
        // Mostly towards the end, so that it goes on.
        let place = duration * Double(chance(3) == 0 ? chance(1000) : 700 + chance(300)) / 1000
        ask("changePlaybackPosition", ["position": .number((place * 1000).rounded() / 1000), "itemId": item])
    }

    private func pause() {
        ask("pause")
        linger()
        ask(chance(2) == 0 ? "play" : "togglePlayPause")
    }

    private func stop() {
        ask("stop")
        linger()
        ask("play")
    }

    private func giveFeedback() {
        switch chance(4) {
        case 0: ask("like", ["active": .bool(chance(2) == 0)])
        case 1: ask("dislike", ["active": .bool(chance(2) == 0)])
        case 2: ask("rating", ["rating": .integer(Int64(chance(6)))])
        default:
            ask("bookmark")
            ask("bookmark", ["active": false])
        }
    }

    private func announce() {
        let policy = ["duck", "pause", "mix"][chance(3)]
        ask("announce", ["uri": .string(library.bell), "policy": .string(policy)], of: nil)
    }

    private func getArtwork() {
        guard let id = state["item"]?["artwork"]?.arrayValue?.first?["id"] else { return }
        ask("artwork.get", ["id": id, "width": .integer(Int64(10 + chance(4) * 20))], of: nil)
    }

    /// Edits the queue far after the current item, so that the known order stays true.
    private func editQueue() {
        guard let last = check.order.last, let place = check.order.firstIndex(of: state.itemID ?? 0),
            check.order.count - place > 6
        else { return }
        switch chance(3) {
        case 0: ask("queue.add", ["items": [.string(library.file(&numbers))]])
        case 1: ask("queue.remove", ["ids": [.integer(last)]])
        default: ask("queue.move", ["ids": [.integer(last)], "to": .integer(Int64(check.order.count - 2))])
        }
        learnOrder()
    }

    private func handOver() {
        client.call(
            "queue.add", ["session": "main", "items": [["descriptor": 0, "uri": "handed over"]]],
            files: [library.pieces[0]])
        learnOrder()
    }

    private func addBroken() {
        let ids = ask("queue.add", ["items": [.string(library.broken)]])?["ids"]?.arrayValue ?? []
        check.broken.formUnion(ids.compactMap(\.integerValue))
        learnOrder()
    }

    private func askQuestions() {
        ask("queue.list", ["limit": 1000])
        ask("commands.list")
        for method in ["session.list", "output.list", "formats.list", "rpc.discover"] { ask(method, of: nil) }
        ask("diagnostics.get", chance(2) == 0 ? [:] : ["uri": .string(library.file(&numbers))], of: nil)
    }

    private func changeRate() {
        ask("changePlaybackRate", ["rate": 1.5])
        linger()
        ask("changePlaybackRate", ["rate": 1])
    }

    private func changeModes() {
        let (method, mode) = chance(2) == 0 ? ("changeShuffleMode", "items") : ("changeRepeatMode", "one")
        ask(method, ["mode": .string(mode)])
        linger()
        ask(method, ["mode": "off"])
    }

    private func changeSettings() {
        switch chance(3) {
        case 0: ask("volume.set", ["volume": .number(Double(1 + chance(10)) / 10)], of: nil)
        case 1: ask("loudness.set", ["mode": .string(["off", "track", "album", "auto"][chance(4)])], of: nil)
        default:
            ask("sleep.set", ["after": 3600])
            ask("sleep.set", ["after": 0])
        }
    }

    private func scan() {
        ask("seekForward", ["phase": "begin"])
        linger()
        ask("seekForward", ["phase": "end"])
    }
}
