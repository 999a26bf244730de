import ControlProtocol
import Glibc
import TestSupport
import Testing

/// The real client with the real daemon, which plays into nothing at the pace of a device.
@Suite(.timeLimit(.minutes(8))) struct DaemonTests {
    private let folder = TemporaryFolder()

    /// A file of noise.
    private func file(_ name: String, seconds: Double, in folder: TemporaryFolder? = nil) -> String {
        let sound = AudioMaterial.noise(frames: Int(8000 * seconds), sampleRate: 8000, channels: 1)
        return (folder ?? self.folder).write(sound.wave(), name)
    }

    private func state(_ daemon: RealDaemon, _ format: String) -> String {
        Tool.run(["status", "-f", format], socket: daemon.socket).output
    }

    @Test func aTuneIsWatchedToItsEnd() {
        let daemon = RealDaemon(folder)
        let outcome = Tool.run(
            ["play", "--watch", file("a.wav", seconds: 0.5), file("b.wav", seconds: 0.3)], socket: daemon.socket)
        #expect(outcome.status == 0, "\(outcome.complaint)")
        #expect(outcome.output.contains("a"))
        #expect(outcome.output.contains("track"))
        #expect(outcome.output.contains("\nstop "))
        #expect(Tool.run(["watch"], socket: daemon.socket).status == 0)
        #expect(state(daemon, "{{state}} {{queue.count}}") == "stopped 2\n")
    }

    @Test func whatCannotBePlayedIsToldInWords() {
        let daemon = RealDaemon(folder)
        let text = folder.write(Array("not a sound".utf8), "text.flac")
        let refused = Tool.run(["play", text], socket: daemon.socket)
        #expect(refused.status == 3)
        #expect(refused.complaint.contains("text.flac"))
        #expect(Tool.run(["play", folder.path("missing.flac")], socket: daemon.socket).status == 3)
        #expect(Tool.run(["add", text, text], socket: daemon.socket).status == 0)
        #expect(Tool.run(["play"], socket: daemon.socket).status != 2)
        let watched = Tool.run(["watch"], socket: daemon.socket)
        #expect(watched.status == 1)
        #expect(watched.complaint.contains("no item could be played"))
    }

    @Test func theQueueIsEditedByPlaces() {
        let daemon = RealDaemon(folder)
        for name in ["a", "b", "c", "d"] { _ = file("\(name).wav", seconds: 30) }
        func run(_ words: String...) {
            let outcome = Tool.run(words, socket: daemon.socket)
            #expect(outcome.status == 0, "\(words): \(outcome.complaint)")
        }
        func queue() -> String {
            Tool.run(["queue", "-f", "{{number}}{{title}}"], socket: daemon.socket).output.replacing("\n", with: " ")
        }
        run("play", folder.path("a.wav"))
        run("add", folder.path("b.wav"), folder.path("c.wav"))
        run("add", "--next", folder.path("d.wav"))
        #expect(queue() == "1a 2d 3b 4c ")
        run("move", "4", "1")
        #expect(queue() == "1c 2a 3d 4b ")
        run("remove", "1", "3-4")
        #expect(queue() == "1a ")
        run("add", folder.path)
        #expect(queue() == "1a 2a 3b 4c 5d ")
        run("queue", "shuffle", "3-5")
        #expect(queue().hasPrefix("1a 2a ") && queue().filter(\.isLetter).sorted() == Array("aabcd"))
        run("queue", "shuffle")
        #expect(queue().hasPrefix("1a ") && queue().filter(\.isLetter).sorted() == Array("aabcd"))
        run("queue", "shuffle", "2-5")
        run("clear")
        run("play", folder.path("a.wav"))
        run("add", folder.path)
        run("play", "4")
        #expect(state(daemon, "{{title}} {{queue.index}}") == "c 3\n")
        run("crop")
        #expect(queue() == "1c ")
        run("clear")
        #expect(queue().isEmpty)
        #expect(Tool.run(["remove", "1"], socket: daemon.socket).status == 3)
    }

    @Test func indexesOfMessagesCountFromOne() {
        let daemon = RealDaemon(folder)
        let path = file("a.wav", seconds: 30)
        #expect(Tool.run(["add", path, path, path], socket: daemon.socket).status == 0)
        let list = folder.write(Array("\(path)\n".utf8), "list")
        for words in [
            ["move", "1", "9"], ["play", "9"], ["add", "--at", "9", path], ["add", "--at", "9", "--from", list],
            ["move", "9", "1"], ["remove", "9"],
        ] {
            let refused = Tool.run(words, socket: daemon.socket)
            #expect(refused.status == 3, "\(words)")
            #expect(refused.complaint == "nowplayingctl: there is no item 9; the queue has 3\n", "\(words)")
        }
        #expect(Tool.run(["add", "--at", "4", path], socket: daemon.socket).status == 0)
        #expect(Tool.run(["move", "1", "4"], socket: daemon.socket).status == 0)
        #expect(state(daemon, "{{queue.count}} {{state}}") == "4 stopped\n")
    }

    @Test func refusedFilesAndPositionsKeepTheQueue() {
        let daemon = RealDaemon(folder)
        let (old, new) = (file("old.wav", seconds: 30), file("new.wav", seconds: 30))
        #expect(Tool.run(["play", old], socket: daemon.socket).status == 0)
        for (words, status, part) in [
            (["play", "--position", "99", new], 1, "the position 99 s is outside the item, which is 30 s long"),
            (["play", "--position", "99", "1"], 1, "the position 99 s is outside the item, which is 30 s long"),
            (
                ["play", "--strict", new, folder.path("missing.wav")], 3,
                "missing.wav: no such file; the queue is unchanged"
            ),
            (["play", folder.path("missing.wav"), folder.path("gone.wav")], 3, "gone.wav” cannot be opened"),
        ] as [([String], Int32, String)] {
            let refused = Tool.run(words, socket: daemon.socket)
            #expect(refused.status == status && refused.complaint.contains(part), "\(words): \(refused.complaint)")
            #expect(state(daemon, "{{title}} {{queue.count}} {{state}}") == "old 1 playing\n", "\(words)")
        }
        #expect(Tool.run(["play", "--position", "20", new, old], socket: daemon.socket).status == 0)
        #expect(state(daemon, "{{title}} {{queue.count}}") == "new 2\n")
    }

    @Test func filesThatExistPlayAndTheOthersAreNamed() {
        let daemon = RealDaemon(folder)
        let (a, b) = (file("a.wav", seconds: 30), file("b.wav", seconds: 30))
        let gone = folder.path("gone.wav")
        let lists = [
            folder.write(Array("gone.wav\n".utf8), "gone.m3u"), folder.write(Array("gone.wav\nb.wav\n".utf8), "b.m3u"),
        ]
        for (words, queue) in [
            ([a, gone], "a 1"), ([gone, a], "a 1"), ([lists[0], a], "a 1"), ([a, lists[0]], "a 1"),
            ([gone, a, b], "a 2"),
            ([a, gone, b], "a 2"), ([a, lists[1]], "a 2"), ([lists[1], a], "b 2"), ([lists[0], gone, b], "b 1"),
        ] {
            let outcome = Tool.run(["play"] + words, socket: daemon.socket)
            #expect(outcome.status == 0, "\(words): \(outcome.complaint)")
            let left = outcome.complaint.split(separator: "\n")
            let count = words.filter { $0 != a && $0 != b }.count
            #expect(left.count == count && left.allSatisfy { $0.contains("left out: ") && $0.contains("gone.wav") })
            #expect(state(daemon, "{{title}} {{queue.count}} {{state}}") == queue + " playing\n", "\(words)")
            for strict in [["play", "--strict"], ["add", "--strict"]] {
                let refused = Tool.run(strict + words, socket: daemon.socket)
                #expect(refused.status == 3 && refused.complaint.contains("gone.wav"), "\(strict + words)")
            }
        }
        #expect(Tool.run(["add", gone, lists[0]], socket: daemon.socket).status == 3)
    }

    @Test func refusalsNameTheirObject() {
        let daemon = RealDaemon(folder)
        let path = file("a.wav", seconds: 30)
        #expect(Tool.run(["add", path], socket: daemon.socket).status == 0)
        for (words, status, part) in [
            (["output", "nix"], 5, "there is no output “nix”; nowplayingctl outputs lists the outputs"),
            (["like"], 4, "there is no current item"), (["rating", "4"], 4, "there is no current item"),
            (["bookmark"], 4, "there is no current item"),
        ] as [([String], Int32, String)] {
            let refused = Tool.run(words, socket: daemon.socket)
            #expect(refused.status == status && refused.complaint.contains(part), "\(words): \(refused.complaint)")
        }
    }

    @Test func placesInTheItem() {
        let daemon = RealDaemon(folder)
        let path = file("a.wav", seconds: 100)
        func run(_ words: String...) {
            let outcome = Tool.run(words, socket: daemon.socket)
            #expect(outcome.status == 0, "\(words): \(outcome.complaint)")
        }
        run("play", path)
        run("pause")
        for (words, place) in [
            (["seek", "10"], "10"), (["seek", "50%"], "50"), (["skip", "-15"], "35"), (["seek", "+5"], "40"),
            (["position", "10-"], "30"), (["seek", "1:23.5"], "83.5"), (["seek", "0"], "0"),
        ] {
            #expect(Tool.run(words, socket: daemon.socket).status == 0)
            #expect(state(daemon, "{{status}} {{elapsed}}") == "Paused \(place)\n", "\(words)")
        }
        #expect(Tool.run(["seek", "101"], socket: daemon.socket).status == 1)
        run("configure", "skipForward", "--intervals", "7,20")
        run("skip")
        #expect(state(daemon, "{{elapsed}}") == "7\n")
        run("stop")
        #expect(state(daemon, "{{status}} {{elapsed}}") == "Stopped 0\n")
    }

    @Test func refusalsOfTheDaemonHaveTheirStatus() {
        let daemon = RealDaemon(folder)
        func status(_ words: String...) -> Int32 { Tool.run(words, socket: daemon.socket).status }
        #expect(status("play") == 4)
        #expect(status("next") == 4)
        #expect(status("current") == 4)
        #expect(status("output", "no such output") == 5)
        #expect(status("call", "nothing.here") == 1)
        #expect(status("call", "play", #"{"indx": 1}"#) == 2)
        #expect(Tool.run(["play", file("a.wav", seconds: 30)], socket: daemon.socket).status == 0)
        #expect(status("configure", "nextTrack", "--disable", "--reason", "the choir sings") == 0)
        let refused = Tool.run(["next"], socket: daemon.socket)
        #expect(refused.status == 6)
        #expect(refused.complaint.contains("the choir sings"))
        #expect(Tool.run(["commands"], socket: daemon.socket).output.contains("the choir sings"))
    }

    @Test func volumeIsSetInPercent() {
        let daemon = RealDaemon(folder)
        for (word, volume) in [
            ("50", "50 %\n"), ("+5", "55 %\n"), ("-10", "45 %\n"), ("100", "100 %\n"), ("+5", "100 %\n"),
        ] {
            #expect(Tool.run(["volume", word], socket: daemon.socket).status == 0)
            #expect(Tool.run(["volume"], socket: daemon.socket).output == volume)
        }
        #expect(Tool.run(["mute"], socket: daemon.socket).status == 0)
        #expect(Tool.run(["volume"], socket: daemon.socket).output == "100 %, muted\n")
        #expect(Tool.run(["mute", "--toggle"], socket: daemon.socket).status == 0)
        #expect(Tool.run(["volume"], socket: daemon.socket).output == "100 %\n")
    }

    @Test func aFollowerSurvivesTheDaemon() {
        let first = RealDaemon(folder)
        let follower = Tool(["follow", "-f", "{{cause}} {{state}}"], socket: first.socket)
        #expect(follower.line() == "snapshot stopped")
        #expect(Tool.run(["quit"], socket: first.socket).status == 0)
        #expect(first.wait() == 0)
        #expect(follower.complained(of: "the daemon has ended"))
        let second = RealDaemon(folder)
        #expect(follower.line() == "snapshot stopped")
        #expect(Tool.run(["play", file("a.wav", seconds: 0.3)], socket: second.socket).status == 0)
        while let line = follower.line(), line != "stop stopped" {}
    }

    @Test(.enabled(if: canRunAsNobody, "needs root and a toolchain that everybody may read"))
    func aFileThatTheDaemonMayNotOpenIsHandedOver() {
        let homes = TemporaryFolder()
        chown(folder.path, nobody, nobody)
        let daemon = RealDaemon(folder, user: nobody)
        let path = file("secret.wav", seconds: 0.3, in: homes)
        chmod(path, 0o600)
        let played = Tool.run(["play", "--watch", path], socket: daemon.socket)
        #expect(played.status == 0, "\(played.complaint)")
        #expect(played.output.contains("secret"))
        #expect(Tool.run(["add", path, path], socket: daemon.socket).status == 0)
        #expect(state(daemon, "{{queue.count}}") == "3\n")
        let refused = Tool.run(["add", homes.path], socket: daemon.socket)
        #expect(refused.status == 7 || refused.status == 3)
        #expect(refused.complaint.contains("cannot read"), "\(refused.complaint)")
    }
}

extension DaemonTests {
    @Test(.enabled(if: canRunAsNobody, "needs root and a toolchain that everybody may read"))
    func aPictureIsHandedToWhoMayNotReadTheCache() {
        chmod(folder.path, 0o755)
        mkdir(folder.path(".config"), 0o755)
        _ = folder.write(Array("[access]\ncontrol-group = \(nobody)\n".utf8), ".config/nowplayingd.conf")
        mkdir(folder.path("out"), 0o755)
        chown(folder.path("out"), nobody, nobody)
        let gif: [UInt8] = Array("GIF89a".utf8) + [9, 0, 9, 0, 0, 0, 0, 0x3B]
        chmod(folder.write(gif, "cover.gif"), 0o600)
        let daemon = RealDaemon(folder)
        #expect(Tool.run(["play", file("a.wav", seconds: 20)], socket: daemon.socket).status == 0)
        func asNobody(_ words: String...) -> (status: Int32, text: String) {
            let user = ["setpriv", "--reuid=\(nobody)", "--regid=\(nobody)", "--clear-groups"]
            return TestProcess.run(user + [Tool.program] + words + ["--socket", daemon.socket])
        }
        #expect(becomes { Tool.run(["artwork"], socket: daemon.socket).status == 0 })
        let path = asNobody("artwork").text.dropLast()
        // Never the picture's own file, and nothing that this user can open by its path.
        #expect(path.contains("/artwork/") && path.hasSuffix(".gif") && !path.hasSuffix("cover.gif"))
        #expect(
            AudioMaterial.run(
                "setpriv", ["--reuid=\(nobody)", "--regid=\(nobody)", "--clear-groups", "cat", String(path)]) != 0)
        #expect(asNobody("artwork", "--output", folder.path("out/copy")).status == 0)
        #expect(folder.read("out/copy") == gif)
        #expect(Tool.run(["artwork", "--kind", "video"], socket: daemon.socket).complaint.contains("cover-square.mp4"))
        #expect(Tool.run(["artwork", "--kind", "film"], socket: daemon.socket).status == 2)
    }
}

/// The user that owns nothing.
private let nobody: UInt32 = 65534

/// True if the daemon can be started as another user.
let canRunAsNobody =
    getuid() == 0
    && AudioMaterial.run(
        "setpriv",
        [
            "--reuid=\(nobody)", "--regid=\(nobody)", "--clear-groups",
            RealDaemon.program, "--version",
        ]) == 0
