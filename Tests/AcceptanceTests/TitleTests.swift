import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// Titles and durations of items that were not played.
    @Suite(.timeLimit(.minutes(5))) struct TitleTests {
        /// Bytes of a second of silence as FLAC, with this title.
        private static func flac(_ title: String, _ comments: String...) -> [UInt8] {
            var options = FLACOptions()
            options.blocks = [AudioMaterial.vorbisComments((["TITLE=" + title] + comments).map { Array($0.utf8) })]
            return AudioMaterial.waves(frames: 8000, sampleRate: 8000).flac(options)
        }

        /// Files `1.flac` … with the titles `T1` …; their paths.
        private func album(_ folder: TemporaryFolder, _ count: Int, in name: String = "album") -> [JSONValue] {
            folder.folder(name)
            return (1...count).map { .string(folder.write(Self.flac("T\($0)"), "\(name)/\($0).flac")) }
        }

        private func titles(_ client: Client, _ parameters: JSONValue = ["limit": 1000]) -> [String] {
            (client.call("queue.list", parameters)?["items"]?.arrayValue ?? []).map { $0["title"]?.stringValue ?? "" }
        }

        /// Pid of the child that reads tags; nil: none runs.
        private func reader(of daemon: RealDaemon) -> pid_t? { readers(of: daemon).first }

        private func readers(of daemon: RealDaemon) -> [pid_t] {
            daemon.children.filter { pid in
                guard let file = fopen("/proc/\(pid)/comm", "r") else { return false }
                defer { fclose(file) }
                var line = [CChar](repeating: 0, count: 64)
                guard fgets(&line, 64, file) != nil else { return false }
                return line.starts(with: "nowplaying-tags\n".utf8.map { CChar(bitPattern: $0) })
            }
        }

        /// True once the daemon has read all that it wants: no child is left, and it sleeps. A reader may start after a look
        /// that found no child.
        private func sleeps(_ daemon: RealDaemon) -> Bool {
            becomes(daemon) { daemon.belongings.children == 0 }
                && standsStill {
                    hasten(daemon)
                    return daemon.contextSwitches
                }
        }

        /// True once the condition holds, with readers that are not of the lowest priority.
        private func becomes(_ daemon: RealDaemon, _ condition: () -> Bool) -> Bool {
            TestSupport.becomes {
                hasten(daemon)
                return condition()
            }
        }

        /// Raises the lowest priority of readers, which makes minutes of their work beside busy programs, where the system
        /// allows that.
        private func hasten(_ daemon: RealDaemon) {
            for reader in daemon.children {
                setpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(reader), 0)
            }
        }

        @Test(
            "an album that was added has titles and times in any format, with nothing played; the daemon sleeps again")
        func formats() async throws {
            LoopThread.start()
            let daemon = await RealDaemon.silent()
            let folder = daemon.folder
            var paths = [folder.write(Self.flac("Eins", "ARTIST=A", "ALBUM=Platte"), "01.flac")]
            let wave = folder.silence("wave", seconds: 3)
            var made: [(name: String, words: [String])] = [
                ("02.mp3", ["-c:a", "libmp3lame"]), ("03.opus", ["-c:a", "libopus"]),
                ("04.ogg", ["-c:a", "libvorbis"]),
            ]
            if RealDaemon.hasDecodeProgram { made.append(("05.m4a", ["-c:a", "aac"])) }
            for (name, words) in made {
                let tags = ["-metadata", "title=Titel \(name)", "-metadata", "artist=B", "-metadata", "album=Platte"]
                let input = ["-v", "error", "-y", "-i", wave]
                try #require(AudioMaterial.run("ffmpeg", input + tags + words + [folder.path(name)]) == 0)
                paths.append(folder.path(name))
            }
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("queue.add", ["items": .array(paths.map(JSONValue.string))])
            let version = client.call("queue.list")?["version"]
            let expected = ["Eins"] + made.map { "Titel \($0.name)" }
            #expect(becomes(daemon) { titles(client) == expected }, "\(titles(client))")
            let list = try #require(client.call("queue.list"))
            for item in list["items"]?.arrayValue ?? [] {
                #expect(item["albumTitle"] == "Platte" && item["artist"]?.stringValue?.count == 1)
                let seconds = item["duration"]?.doubleValue ?? 0
                #expect(abs(seconds - (item["title"] == "Eins" ? 1 : 3)) < 0.1, "\(item)")
            }
            #expect(list["version"] == version && list["revision"]?.integerValue ?? 0 > version?.integerValue ?? 0)
            let formats = client.call("queue.list", ["fields": ["format"]])?["items"]?.arrayValue ?? []
            #expect(formats.first?["format"]?["codec"] == "FLAC" && formats.allSatisfy { $0["format"] != nil })
            let state = client.call("nowPlaying.get")
            #expect(state?.playing == "stopped")
            // Clients that keep a copy follow by edits.
            let changes = client.call("queue.changes", ["since": 1])
            #expect(changes?["edits"]?.arrayValue?.allSatisfy { $0["update"] != nil } == true, "\(changes ?? .null)")
            #expect(sleeps(daemon))
            let before = daemon.contextSwitches
            usleep(3_000_000)
            #expect(daemon.contextSwitches == before)
            #expect(daemon.stop() == 0)
        }

        @Test("of 3,000 items the next 500 are read; a page that is listed is read once; an event a second at most")
        func pages() async throws {
            LoopThread.start()
            let daemon = await RealDaemon.silent()
            let paths = album(daemon.folder, 3000)
            let (client, follower) = (daemon.connect(), daemon.connect())
            follower.call("nowPlaying.subscribe")
            let memory = daemon.belongings.memory
            let began = now()
            client.call("queue.add", ["items": .array(paths)])
            let version = client.call("nowPlaying.get")?["queue"]?["version"]
            #expect(sleeps(daemon))
            print(
                "titles: 500 files known and asleep after \(now() - began) s; anonymous KiB \(memory) → "
                    + "\(daemon.belongings.memory)")
            let known = { (list: [String]) in list.count { $0.first == "T" } }
            // The revision shows new titles without listing any item.
            let ids = client.call("queue.changes", ["since": 1])?["edits"]?.arrayValue?.first?["update"]?["ids"]
            #expect(ids?.arrayValue?.count == 500)
            let state = client.call("nowPlaying.get")
            #expect(state?["queue"]?["version"] == version)
            follower.call("nowPlaying.get")
            var events = follower.takeNotifications()
            #expect(events.allSatisfy { $0["cause"] == "queue" || $0["cause"] == "metadata" })
            let seconds = now() - began
            #expect(events.count <= Int(seconds) + 2, "\(events.count) in \(seconds) s")
            // A page.
            let page: JSONValue = ["offset": 1000, "limit": 100]
            #expect(known(titles(client, page)) == 0)
            #expect(becomes(daemon) { known(titles(client, page)) == 100 })
            #expect(known(titles(client, ["offset": 1100, "limit": 1])) == 0)
            #expect(sleeps(daemon))
            // Known pages are not read again.
            follower.call("nowPlaying.get")
            events = follower.takeNotifications()
            let revision = client.call("queue.list", page)?["revision"]
            #expect(sleeps(daemon))
            #expect(client.call("queue.list", page)?["revision"] == revision)
            // All pages: 2,000 are kept.
            var offset = 0
            while offset < 3000 {
                _ = titles(client, ["offset": .integer(Int64(offset)), "limit": 500])
                #expect(sleeps(daemon))
                offset += 500
            }
            var all: [String] = []
            for offset in stride(from: 0, to: 3000, by: 1000) {
                all += titles(client, ["offset": .integer(Int64(offset)), "limit": 1000])
            }
            #expect(known(all) == 2000, "\(known(all))")
            print("titles: 2,000 kept, anonymous KiB \(daemon.belongings.memory)")
            // A client that lists it all after each change does not have it read for ever.
            #expect(sleeps(daemon))
            #expect(daemon.stop() == 0)
        }

        @Test("a reader that is killed costs one file at most; all others have their titles")
        func killedReader() async throws {
            LoopThread.start()
            let daemon = await RealDaemon.silent()
            let paths = album(daemon.folder, 500)
            let client = daemon.connect()
            client.call("queue.add", ["items": .array(paths)])
            var kills: Set<pid_t> = []
            while kills.count < 5, let pid = reader(of: daemon) ?? waitForReader(daemon) {
                if kills.insert(pid).inserted { kill(pid, SIGKILL) }
            }
            #expect(kills.count > 0)
            #expect(sleeps(daemon))
            let lost = titles(client).count { $0.first != "T" }
            #expect(lost <= kills.count, "\(lost) of \(kills.count) kills")
            #expect(client.call("play", ["index": 3])?.playing == "playing")
            #expect(daemon.stop() == 0)
        }

        /// The reader as soon as it runs; nil: it does not within a moment, as all is read.
        private func waitForReader(_ daemon: RealDaemon) -> pid_t? {
            var found: pid_t?
            for _ in 0..<400 where found == nil {
                usleep(5000)
                found = reader(of: daemon)
            }
            return found
        }

        @Test("bytes that are no audio are passed over; an open file knows more, and a client's title counts more")
        func certainty() async throws {
            LoopThread.start()
            let daemon = await RealDaemon.silent()
            let folder = daemon.folder
            let broken = folder.write(Array("fLaC".utf8) + [UInt8](repeating: 0xFF, count: 5000), "broken.flac")
            let named = folder.write(Self.flac("In the file"), "named.flac")
            let plain = folder.write(Self.flac("Plain"), "plain.flac")
            let client = daemon.connect()
            client.call(
                "queue.add", ["items": [.string(broken), ["uri": .string(named), "title": "Given"], .string(plain)]])
            #expect(becomes(daemon) { titles(client) == ["broken", "Given", "Plain"] }, "\(titles(client))")
            #expect(client.call("queue.list")?["items"]?.arrayValue?[1]["duration"] == 1)
            // The file is another one when it plays.
            _ = folder.write(Self.flac("Played"), "plain.flac")
            client.call("play", ["index": 2])
            #expect(becomes(daemon) { titles(client) == ["broken", "Given", "Played"] })
            #expect(sleeps(daemon) || client.call("stop") != nil)
            #expect(daemon.stop() == 0)
        }

        @Test("item.update of an item that is not shown is a queue event with its edit, and the version stays")
        func update() async throws {
            let daemon = await RealDaemon.silent()
            let client = daemon.connect()
            let items = daemon.silences(60, 60, 60)
            client.call("queue.add", ["items": items])
            #expect(becomes(daemon) { client.call("queue.list")?["items"]?.arrayValue?.last?["duration"] == 60 })
            client.call("nowPlaying.subscribe")
            let before = try #require(client.call("nowPlaying.get")?["queue"])
            #expect(client.call("item.update", ["id": 3, "title": "Third"]) != nil)
            let event = client.event()
            #expect(event["cause"] == "queue")
            #expect(event["queue"]?["version"] == before["version"])
            #expect(event["queue"]?["from"] == before["revision"])
            #expect(event["queue"]?["edits"] == [["update": ["ids": [3]]]])
            // The same again changes nothing.
            client.call("item.update", ["id": 3, "title": "Third"])
            #expect(client.events() == [])
        }

        @Test("read-titles = off: nothing is read")
        func off() async throws {
            LoopThread.start()
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            client.call("queue.add", ["items": .array(album(daemon.folder, 3))])
            #expect(titles(client) == ["1", "2", "3"])
            #expect(sleeps(daemon))
            #expect(titles(client) == ["1", "2", "3"])
        }

        @Test(
            "a disk that hangs is left alone: all are answered, other disks are read, and it is when it answers",
            .enabled(if: FUSEDisk.isAllowed, "needs root, FUSE and fuse2fs, to mount a disk of its own"))
        func hangingDisk() async throws {
            LoopThread.start()
            let daemon = await RealDaemon.silent()
            let disk = await FUSEDisk.mount(in: daemon.folder) { content in
                for number in 1...20 {
                    _ = content.folder.write(Self.flac("F\(number)"), "\(content.name)/\(number).flac")
                }
            }
            let client = daemon.connect()
            let away = (1...20).map { JSONValue.string("\(disk.path)/\($0).flac") }
            // Nothing is read before the disk hangs.
            let paths = away + album(daemon.folder, 5)
            client.call("session.create", ["name": "other"])
            let requests = client.send("queue.add", ["items": .array(paths)])
            _ = client.answer(requests)
            disk.hang()
            let first = titles(client).prefix(20).count { $0.first == "F" }
            // The open gives up after 5 s; then the others are read.
            var longest = 0.0
            #expect(
                becomes(daemon) {
                    let asked = now()
                    let known = titles(client).suffix(5).allSatisfy { $0.first == "T" }
                    longest = max(longest, now() - asked)
                    return known
                }, "\(titles(client))")
            #expect(longest < 1)
            if first < 20 { #expect(titles(client).prefix(20).contains { $0.first != "F" }) }
            disk.goOn()
            // An item of it that plays shows that it answers.
            client.call("play", ["index": 19])
            #expect(becomes(daemon) { titles(client).prefix(20).allSatisfy { $0.first == "F" } })
            #expect(sleeps(daemon))
            #expect(daemon.stop() == 0)
            disk.end()
        }
    }
}
