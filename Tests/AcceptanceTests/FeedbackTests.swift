import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// Feedback of any item of the queue, and of any file.
    @Suite(.timeLimit(.minutes(5))) struct FeedbackTests {
        private func wave(_ folder: TemporaryFolder, _ name: String, seed: UInt64) -> JSONValue {
            .string(folder.write(AudioMaterial.noise(frames: 8000, sampleRate: 8000, seed: seed).wave(), name))
        }

        @Test("what is set for a file is there when it is renamed, and after a restart")
        func renamed() async throws {
            let folder = TemporaryFolder()
            let (path, other) = (wave(folder, "a.wav", seed: 1), wave(folder, "b.wav", seed: 2))
            let first = await RealDaemon.start(nil, output: "null", in: folder)
            let client = first.connect()
            let set = client.call("feedback.set", ["uri": path, "rating": 3.5, "like": true, "bookmark": 0.25])
            let identity = try #require(set?["identity"])
            #expect(set?["rating"] == 3.5 && set?["isLiked"] == true && set?["bookmark"] == 0.25)
            client.call("feedback.set", ["uri": path, "dislike": true, "bookmark": nil])
            #expect(first.stop() == 0)
            let moved = folder.path("moved.wav")
            #expect(rename(path.stringValue ?? "", moved) == 0)
            let second = await RealDaemon.start(nil, output: "null", in: folder)
            let reader = second.connect()
            let items = reader.call("feedback.get", ["uris": [other, .string(moved)]])?["items"]?.arrayValue ?? []
            try #require(items.count == 2)
            #expect(items[0]["rating"] == nil && items[0]["isLiked"] == false)
            #expect(items[0]["identity"]?.stringValue != nil && items[0]["identity"] != identity)
            #expect(items[1]["identity"] == identity && items[1]["rating"] == 3.5)
            #expect(items[1]["isLiked"] == false && items[1]["isDisliked"] == true)
            #expect(items[1]["bookmark"] == nil)
            #expect(reader.call("feedback.set", ["uri": .string(moved), "rating": nil])?["rating"] == nil)
            #expect(second.stop() == 0)
        }

        @Test("the current item has an event, whether it is named by its id or by another name of its file")
        func current() async throws {
            let folder = TemporaryFolder()
            let path = wave(folder, "a.wav", seed: 1)
            let link = folder.path("link.wav")
            #expect(symlink(path.stringValue ?? "", link) == 0)
            let daemon = await RealDaemon.start(nil, output: "null", in: folder)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let items: JSONValue = [path, wave(folder, "b.wav", seed: 2)]
            let ids = client.call("queue.add", ["items": items])?["ids"]?.arrayValue ?? []
            try #require(ids.count == 2)
            client.call("play")
            client.call("pause")
            #expect(client.event("pause").itemID == ids[0].integerValue)
            #expect(client.call("feedback.set", ["uri": .string(link), "rating": 2])?["rating"] == 2)
            while client.event("feedback", "metadata")["item"]?["rating"] != 2 {}
            client.call("feedback.set", ["id": ids[0], "like": true])
            let liked = client.event("feedback")
            #expect(liked["item"]?["isLiked"] == true && liked["item"]?["rating"] == 2)
            #expect(liked["by"]?["pid"]?.integerValue == Int64(getpid()))
            // Another item has no event of the state.
            client.call("feedback.set", ["id": ids[1], "rating": 5])
            #expect(client.events() == [])
            let both = client.call("feedback.get", ["ids": .array(ids.reversed())])?["items"]?.arrayValue ?? []
            #expect(both.map { $0["id"] } == [ids[1], ids[0]])
            #expect(both.map { $0["rating"] } == [5, 2])
            // Feedback by commands of the current item is there, too.
            client.call("rating", ["rating": 1])
            let got = client.call("feedback.get", ["ids": [ids[0]]])?["items"]?.arrayValue ?? []
            #expect(got.first?["rating"] == 1 && got.first?["isLiked"] == true)
            #expect(daemon.stop() == 0)
        }

        @Test("another session that plays the same file shows it")
        func sessions() async throws {
            let folder = TemporaryFolder()
            let path = wave(folder, "a.wav", seed: 1)
            let daemon = await RealDaemon.start(nil, output: "null", in: folder)
            let (client, follower) = (daemon.connect(), daemon.connect())
            client.call("session.create", ["name": "kitchen", "policy": "mix"])
            for session in ["main", "kitchen"] {
                client.call("queue.add", ["items": [path], "session": .string(session)])
                client.call("play", ["session": .string(session)])
                client.call("pause", ["session": .string(session)])
            }
            follower.call("nowPlaying.subscribe", ["session": "kitchen"])
            client.call("rating", ["session": "main", "rating": 4])
            #expect(follower.event("feedback")["item"]?["rating"] == 4)
            client.call("feedback.set", ["uri": path, "like": true])
            #expect(follower.event("feedback")["item"]?["isLiked"] == true)
            #expect(daemon.stop() == 0)
        }

        @Test("who mirrors the feedback gets each change, and only it")
        func mirrored() async throws {
            let folder = TemporaryFolder()
            let files = (0..<3).map { wave(folder, "\($0).wav", seed: UInt64($0 + 1)) }
            let daemon = await RealDaemon.start(nil, output: "null", in: folder)
            let (client, mirror) = (daemon.connect(), daemon.connect())
            #expect(mirror.call("feedback.changes") == ["items": [], "next": "0"])
            #expect(mirror.call("feedback.subscribe") == [:])
            client.call("feedback.set", ["uri": files[0], "rating": 1])
            let first = mirror.event()
            #expect(first["rating"] == 1 && first["uri"] == nil)
            client.call("feedback.set", ["uri": files[1], "rating": 2])
            client.call("feedback.set", ["uri": files[1], "rating": 2])
            client.call("queue.add", ["items": [files[2]], "play": true])
            client.call("pause")
            client.call("like")
            let (second, third) = (mirror.event(), mirror.event())
            #expect(second["rating"] == 2 && third["isLiked"] == true)
            #expect(second["since"] == first["next"] && third["since"] == second["next"])
            let all = try #require(mirror.call("feedback.changes"))
            let items = all["items"]?.arrayValue ?? []
            #expect(items.map { $0["identity"] } == [first, second, third].map { $0["identity"] })
            #expect(items.map { $0["uri"]?.stringValue } == files.map { "file://" + ($0.stringValue ?? "") })
            #expect(all["next"] == third["next"] && all["more"] == nil && all["reset"] == nil)
            let page = mirror.call("feedback.changes", ["since": first["next"] ?? .null, "limit": 1])
            #expect(page?["items"]?.arrayValue?.map { $0["identity"] } == [second["identity"]])
            #expect(page?["more"] == true && page?["next"] == second["next"])
            #expect(mirror.call("feedback.changes", ["since": "1-7"])?["reset"] == true)
            // The subscription of the state is another one.
            mirror.call("nowPlaying.subscribe")
            mirror.call("nowPlaying.unsubscribe")
            client.call("feedback.set", ["uri": files[0], "rating": 3])
            #expect(mirror.event()["rating"] == 3)
            #expect(mirror.call("feedback.unsubscribe") == [:])
            client.call("feedback.set", ["uri": files[0], "rating": 4])
            mirror.call("hello")
            #expect(mirror.takeNotifications() == [])
            #expect(daemon.stop() == 0)
        }

        @Test("a request that can't be is refused, and changes nothing")
        func refused() async throws {
            let folder = TemporaryFolder()
            let path = wave(folder, "a.wav", seed: 1)
            _ = folder.write(Array("a.wav\n".utf8), "list.m3u")
            let daemon = await RealDaemon.start(nil, output: "null", in: folder)
            let client = daemon.connect()
            let many = JSONValue.array((0..<1001).map { .string("/\($0)") })
            let table: [(String, JSONValue, String)] = [
                ("feedback.set", ["id": 7, "rating": 1], "100 noSuchItem"),
                ("feedback.get", ["ids": [7]], "100 noSuchItem"),
                ("feedback.set", ["uri": "/nowhere/x.flac", "rating": 1], "100"),
                ("feedback.get", ["uris": [path, "/nowhere/x.flac"]], "100"),
                ("feedback.set", ["uri": .string(folder.path), "rating": 1], "100"),
                ("feedback.set", ["uri": .string(folder.path("list.m3u")), "rating": 1], "100"),
                ("feedback.set", ["uri": path, "rating": 5.5], "-32602"),
                ("feedback.set", ["uri": path, "rating": -1], "-32602"),
                ("feedback.set", ["uri": path, "rating": "4"], "-32602"),
                ("feedback.set", ["uri": path, "like": 1], "-32602"),
                ("feedback.set", ["uri": path, "like": true, "dislike": true], "-32602"),
                ("feedback.set", ["uri": path, "bookmark": -1], "-32602"),
                ("feedback.set", ["uri": path], "-32602"),
                ("feedback.set", ["rating": 1], "-32602"),
                ("feedback.set", ["uri": path, "id": 1, "rating": 1], "-32602"),
                ("feedback.get", [:], "-32602"),
                ("feedback.get", ["uris": many], "-32602"),
                ("feedback.get", ["uris": []], "-32602"),
                ("feedback.get", ["uris": [path], "ids": [1]], "-32602"),
                ("feedback.changes", ["since": "x"], "-32602"),
                ("feedback.changes", ["limit": 1001], "-32602"),
                ("feedback.set", ["id": 1, "rating": 1, "session": "kitchen"], "100 noSession"),
            ]
            for (method, parameters, refusal) in table {
                #expect(client.refusal(method, parameters) == refusal, "\(method) \(parameters)")
            }
            let words = client.error("feedback.get", ["uris": many])?["message"]
            #expect(words == "“uris” has 1001 elements; it takes at most 1000")
            #expect(client.call("feedback.changes")?["items"] == [])
            #expect(daemon.stop() == 0)
        }

        @Test("another user names what lies below the media roots, and sees no path outside of them")
        func foreign() async throws {
            let folder = TemporaryFolder()
            mkdir(folder.path("music"), 0o755)
            let (inside, outside) = (wave(folder, "music/a.wav", seed: 1), wave(folder, "b.wav", seed: 2))
            let text = "[access]\nmedia-roots = \(folder.path("music"))\n"
            let configuration = folder.write(Array(text.utf8), "nowplayingd.conf")
            let daemon = await RealDaemon.start(nil, output: "null", in: folder, ["--config", configuration])
            let (owner, guest, reader) = (daemon.connect(), daemon.connect(), daemon.connect())
            guest.call("hello", ["role": "control"])
            reader.call("feedback.subscribe")
            reader.call("hello", ["role": "read"])
            for uri in [outside, .string(folder.path("nothing.wav"))] {
                #expect(guest.refusal("feedback.set", ["uri": uri, "rating": 1]) == "403")
                #expect(guest.refusal("feedback.get", ["uris": [inside, uri]]) == "403")
            }
            #expect(guest.refusal("feedback.set", ["uri": .string(folder.path("music/x.wav")), "rating": 1]) == "100")
            #expect(guest.call("feedback.set", ["uri": inside, "rating": 3])?["rating"] == 3)
            owner.call("feedback.set", ["uri": outside, "rating": 4])
            let seen = guest.call("feedback.changes")?["items"]?.arrayValue ?? []
            #expect(seen.map { $0["rating"] } == [3, 4])
            #expect(seen.map { $0["uri"] == nil } == [false, true])
            let all = owner.call("feedback.changes")?["items"]?.arrayValue ?? []
            #expect(all.allSatisfy { $0["uri"] != nil })
            for method in ["feedback.get", "feedback.changes", "feedback.subscribe"] {
                #expect(reader.refusal(method) == "403")
            }
            #expect(reader.takeNotifications() == [])
            #expect(daemon.stop() == 0)
        }
    }
}
