import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// Media roots that are missing, without anything being mounted.
    @Suite(.timeLimit(.minutes(5))) struct MediaRootTests {
        init() { LoopThread.start() }

        @Test("a media root that is put back: play goes on where it was")
        func putBack() async throws {
            let folder = TemporaryFolder()
            let music = folder.path("music")
            mkdir(music, 0o755)
            _ = folder.silence("music/a.wav", seconds: 60)
            let settings = "[access]\nmedia-roots = \(music)\n[playback]\nresume = playing\n"
            let configuration = folder.write(Array(settings.utf8), "nowplayingd.conf")
            let first = await RealDaemon.start(nil, output: "null", in: folder, ["--config", configuration])
            let client = first.connect()
            #expect(client.call("play", ["uri": .string(music + "/a.wav"), "position": 30])?.playing == "playing")
            client.call("queue.add", ["items": first.silences(5)])
            first.process.signal(SIGKILL)
            first.process.wait()
            #expect(rename(music, folder.path("away")) == 0)
            let second = await RealDaemon.start(nil, output: "null", in: folder, ["--config", configuration])
            let follower = second.connect()
            var state = try #require(follower.call("nowPlaying.subscribe"))
            while state.playing != "stalled", state != .null { state = follower.event() }
            #expect(state["stall"]?["reason"] == "mediaGone" && state["queue"]?["index"] == 0)
            #expect(state.elapsed >= 30 && state.elapsed < 40)
            let returned = now()
            #expect(rename(folder.path("away"), music) == 0)
            let back = follower.event("unstall")
            #expect(back.goesOn(from: state.elapsed, after: returned), "\(back)")
            #expect(back["queue"]?["index"] == 0)
            #expect(second.stop() == 0)
        }

        @Test("a reload changes below which folders a foreign user's pictures may lie, for those that are shown, too")
        func reloaded() async throws {
            let folder = TemporaryFolder()
            for name in ["a", "b"] {
                mkdir(folder.path(name), 0o755)
                _ = folder.write(ArtworkTests.gif(name == "a" ? 7 : 8), "\(name)/x.gif")
            }
            func configuration(_ roots: [String]) -> String {
                let text =
                    "[daemon]\ncache-directory = \(folder.path("cache"))\n[access]\nmedia-roots = "
                    + roots.map { folder.path($0) }.joined(separator: "\n  ") + "\n"
                return folder.write(Array(text.utf8), "conf")
            }
            let daemon = await RealDaemon.start(nil, output: "null", in: folder, ["--config", configuration(["a"])])
            let (owner, guest) = (daemon.connect(), daemon.connect())
            guest.call("hello", ["role": "control"])
            guest.call("session.create", ["name": "cast", "external": true])
            func width() -> Int64? {
                owner.call("nowPlaying.get", ["session": "cast"])?["item"]?["artwork"]?.arrayValue?.first?["width"]?
                    .integerValue
            }
            func show(_ title: String, _ file: String) {
                let item: JSONValue = ["title": .string(title), "artworkUrl": .string(folder.path(file))]
                guest.call("nowPlaying.publish", ["session": "cast", "state": "playing", "item": item])
            }
            show("first", "b/x.gif")
            show("second", "a/x.gif")
            #expect(becomes { width() == 7 })
            show("first", "b/x.gif")
            #expect(width() == nil)
            _ = configuration(["b"])
            #expect(owner.call("daemon.reload")?["changed"] == ["media-roots"])
            #expect(becomes { width() == 8 })
            let id =
                owner.call("nowPlaying.get", ["session": "cast"])?["item"]?["artwork"]?.arrayValue?.first?["id"]
                ?? .null
            #expect(guest.call("artwork.get", ["id": id])?["path"] != nil)
            _ = configuration(["a"])
            owner.call("daemon.reload")
            #expect(guest.refusal("artwork.get", ["id": id]) == "100 noArtwork")
            #expect(becomes { width() == nil })
            #expect(daemon.stop() == 0)
        }

        @Test("a media root that is filled file by file is back, for each item, with its own file")
        func filled() async throws {
            let folder = TemporaryFolder()
            let music = folder.path("music")
            mkdir(music, 0o755)
            let settings = "[access]\nmedia-roots = \(music)\n[playback]\nresume = playing\n"
            let configuration = folder.write(Array(settings.utf8), "nowplayingd.conf")
            let first = await RealDaemon.start(nil, output: "null", in: folder, ["--config", configuration])
            for (name, seconds) in [("a", 60.0), ("b", 1), ("c", 60)] {
                _ = folder.silence("music/\(name).wav", seconds: seconds)
            }
            let wanted = ["b", "c"].map { JSONValue.string("\(music)/\($0).wav") }
            #expect(first.connect().call("queue.add", ["items": .array(wanted), "play": true]) != nil)
            first.process.signal(SIGKILL)
            first.process.wait()
            #expect(rename(music, folder.path("away")) == 0)
            let second = await RealDaemon.start(nil, output: "null", in: folder, ["--config", configuration])
            let client = second.connect()
            var state = try #require(client.call("nowPlaying.subscribe"))
            while state.playing != "stalled", state != .null { state = client.event() }
            #expect(state["stall"]?["reason"] == "mediaGone" && state["queue"]?["index"] == 0)
            // The first file is another one; requests meanwhile get the answer that this one is still awaited.
            mkdir(music, 0o755)
            #expect(rename(folder.path("away/a.wav"), music + "/a.wav") == 0)
            #expect(client.call("pause")?.playing == "paused")
            #expect(client.call("play")?.playing == "stalled")
            #expect(client.event("stall")["error"] == .null)
            #expect(rename(folder.path("away/b.wav"), music + "/b.wav") == 0)
            let back = client.event("unstall")
            #expect(back.playing == "playing" && back["queue"]?["index"] == 0)
            // The next one is not passed over for not being there yet.
            let next = client.event("stall")
            #expect(next["stall"]?["reason"] == "mediaGone" && next["queue"]?["index"] == 1 && next.elapsed == 0)
            #expect(rename(folder.path("away/c.wav"), music + "/c.wav") == 0)
            let on = client.event("unstall")
            #expect(on.playing == "playing" && on["queue"]?["index"] == 1 && on["error"] == .null)
            #expect(second.stop() == 0)
        }
    }
}
