import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// Disks that hang: there are no events, and only the reading thread waits.
    @Suite(
        .timeLimit(.minutes(5)),
        .enabled(if: FUSEDisk.isAllowed, "needs root, FUSE and fuse2fs, to mount a disk of its own"))
    struct HangTests {
        init() { LoopThread.start() }

        @Test("who likes an item of a session that is closed while its disk hangs is answered, and it is remembered")
        func closedSession() async throws {
            let daemon = await RealDaemon.silent()
            let disk = await FUSEDisk.mount(in: daemon.folder) { $0.wideSilence("a.wav") }
            let client = daemon.connect()
            client.call("session.create", ["name": "night"])
            client.call(
                "queue.add", ["session": "night", "items": [.string(disk.path + "/a.wav")], "play": true])
            disk.hang()
            let like = client.send("like", ["session": "night"])
            let close = client.send("session.close", ["name": "night"])
            #expect(client.answer(like)["error"]?["data"]?["reason"] == "noSession")
            #expect(client.answer(close)["result"] == [:])
            disk.goOn()
            #expect(client.finds(liked: .string(disk.path + "/a.wav")))
            #expect(daemon.stop() == 0)
            disk.end()
        }

        @Test("feedback of a file on a disk that hangs holds up nobody else, and is set when the disk answers")
        func feedback() async throws {
            let daemon = await RealDaemon.silent()
            let disk = await FUSEDisk.mount(in: daemon.folder) { $0.wideSilence("a.wav") }
            let local: JSONValue = .string(daemon.folder.write(Self.albumTrack(1), "1.flac"))
            let (first, second, other) = (daemon.connect(), daemon.connect(), daemon.connect())
            let away: JSONValue = .string(disk.path + "/a.wav")
            let id = first.call("queue.add", ["items": [away]])?["ids"]?.arrayValue?.first ?? .null
            disk.hang()
            let hanging = [
                first.send("feedback.set", ["id": id, "rating": 4]),
                first.send("feedback.set", ["uri": local, "rating": 1]),
            ]
            let byName = second.send("feedback.get", ["uris": [away]])
            #expect(other.call("feedback.set", ["uri": local, "rating": 2])?["rating"] == 2)
            #expect(other.call("feedback.get", ["uris": [local]])?["items"]?.arrayValue?.first?["rating"] == 2)
            #expect(other.call("volume.set", ["volume": 0.5])?["volume"] == 0.5)
            disk.goOn()
            for request in hanging { #expect(first.answer(request)["error"] == nil) }
            #expect(second.answer(byName)["result"]?["items"]?.arrayValue?.count == 1)
            let items = other.call("feedback.get", ["uris": [away, local]])?["items"]?.arrayValue ?? []
            #expect(items.map { $0["rating"] } == [4, 1])
            #expect(daemon.stop() == 0)
            disk.end()
        }

        /// Writes half a minute of noise as a track of an album with gains of its own.
        private static func albumTrack(_ number: Int) -> [UInt8] {
            var options = FLACOptions()
            let comments = [
                "ALBUM=one", "TRACKNUMBER=\(number)", "REPLAYGAIN_TRACK_GAIN=-6 dB", "REPLAYGAIN_ALBUM_GAIN=-12 dB",
            ]
            options.blocks = [AudioMaterial.vorbisComments(comments.map { Array($0.utf8) })]
            return AudioMaterial.waves(frames: 44100 * 30, sampleRate: 44100).flac(options)
        }

        @Test("a neighbour on a disk that hangs keeps no item waiting: its gain follows when the disk answers")
        func neighbour() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let disk = await FUSEDisk.mount(in: daemon.folder) {
                _ = $0.folder.write(Self.albumTrack(2), "\($0.name)/2.flac")
            }
            let first = daemon.folder.write(Self.albumTrack(1), "1.flac")
            let client = daemon.connect()
            client.call("loudness.set", ["mode": "auto"])
            client.call("queue.add", ["items": [.string(first), .string(disk.path + "/2.flac")]])
            client.call("nowPlaying.subscribe")
            disk.hang()
            client.call("play")
            var state = client.call("nowPlaying.get")
            while state?.playing != "playing", !client.isBroken { state = client.event() }
            #expect(state?["loudness"]?["basis"] == "track", "\(state ?? .null)")
            disk.goOn()
            let event = client.event("metadata")
            #expect(event.playing == "playing" && event["loudness"]?["basis"] == "album", "\(event)")
            #expect(event["loudness"]?["gain"] == -12)
            #expect(daemon.stop() == 0)
            disk.end()
        }

        @Test("a read that hangs in the middle of an item is given up, and play goes on there when the disk does")
        func middle() async throws {
            let daemon = await RealDaemon.silent()
            let disk = await FUSEDisk.mount(in: daemon.folder) { $0.wideSilence("a.wav") }
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("play", ["uri": .string(disk.path + "/a.wav")])
            let threads = daemon.belongings.threads
            for _ in 0..<Campaign.times(1, long: 5) {
                disk.hang()
                // Sound runs out, and 5 s later the read is given up. Everybody is answered all the while.
                var stall = client.event("stall")
                #expect(stall["stall"]?["reason"] == "sourceLate" && stall.rate == 0)
                let place = stall.elapsed
                #expect(daemon.connect().call("queue.list")?["count"] == 1)
                stall = client.event("stall")
                #expect(stall["stall"]?["reason"] == "mediaGone" && stall.elapsed == place)
                #expect(client.call("pause")?.playing == "paused")
                #expect(client.call("play")?.playing == "stalled")
                #expect(client.call("volume.set", ["volume": 0.5])?["volume"] == 0.5)
                let returned = now()
                disk.goOn()
                let back = client.event("unstall")
                #expect(back.goesOn(from: place, after: returned), "\(back.elapsed) \(place)")
            }
            Campaign.report(
                "a read that hangs in the middle of an item (FUSE)", Campaign.times(1, long: 5),
                "given up after 5 s, goes on where it stood each time; threads \(threads) → "
                    + "\(daemon.belongings.threads)")
            // Gone for good under the open file, and back.
            for _ in 0..<Campaign.times(0, long: 5) {
                disk.pull()
                let stall = client.event("stall")
                #expect(stall["stall"]?["reason"] == "mediaGone")
                let returned = now()
                await disk.mount()
                let back = client.event("unstall")
                #expect(back.goesOn(from: stall.elapsed, after: returned), "\(back.elapsed) \(stall.elapsed)")
            }
            #expect(daemon.stop() == 0)
            disk.end()
        }
    }
}
