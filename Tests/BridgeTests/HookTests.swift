import ControlProtocol
import Glibc
import TestSupport
import Testing

/// The real nowplaying-hooks beside a real daemon.
@Suite(.serialized, .oneAtATime, .timeLimit(.minutes(5))) struct HookTests {
    private let house = House()

    /// A hook that appends its event and this shell code's output to the file `ran`.
    private func hook(_ name: String, _ script: String) {
        house.write("hooks.d/" + name, "#!/bin/sh\ncd \(house.folder.path)\n\(script)\n")
    }

    private func start(_ settings: String = "") async -> TestProcess {
        house.write(
            "config/nowplayingd.conf", "[hooks]\ndirectory = \(house.folder.path("hooks.d"))\n\(settings)")
        return await house.start("nowplaying-hooks", ["--socket", house.socket], log: "hooks.log")
    }

    private func sound(_ name: String = "a.wav", seconds: Double = 60) -> String {
        house.silence(name, seconds: seconds)
    }

    @Test("a configuration file that it cannot read is ignored and logged", .enabled(if: geteuid() == 0, "needs root"))
    func unreadableSettings() async {
        let who = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        chmod(house.folder.path, 0o755)
        let file = house.write("config/nowplayingd.conf", "[hooks]\nno such line\n", mode: 0o600)
        let words = "ignored \(file): permission denied"
        let check = await house.run(who + [House.program("nowplaying-hooks"), "--check-config"])
        #expect(check.status == 0 && check.text.contains(words), "\(check.text)")
        let hooks = await house.start(
            command: who + [House.program("nowplaying-hooks"), "--socket", house.socket], log: "hooks.log")
        #expect(house.comes(words, in: "hooks.log"))
        hooks.end()
    }

    @Test func hooksAreToldWhatHappens() async throws {
        hook(
            "all",
            """
            cat > state.$NOWPLAYING_EVENT
            tr '\\0' '\\n' < /proc/self/environ > environment.$NOWPLAYING_EVENT
            ls -l /proc/self/fd > descriptors; cut -d ' ' -f 5 /proc/$$/stat > group; echo $$ >> group
            echo x 2>/dev/null >> /proc/$$/fd/0 && echo written > broken
            echo "$NOWPLAYING_EVENT:$PLAYER_EVENT:$NOWPLAYING_STATE" >> ran
            """)
        let hooks = await start("pause = /bin/sh -c pause\nquiet-time = 0.2\n")
        let daemon = await house.startDaemon()
        #expect(house.comes("snapshot:session_connected:stopped", in: "ran"))
        await house.tool("play", sound())
        #expect(house.comes("play:playing:playing", in: "ran"))
        let state = try JSONReader.read(house.text("state.play"))
        #expect(
            state["state"]?.stringValue == "playing" && state["item"]?["uri"]?.stringValue?.hasSuffix("/a.wav") == true
        )
        let environment = house.text("environment.play")
        #expect(environment.contains("\nNOWPLAYING_TITLE=a\n") || environment.contains("\nNOWPLAYING_TITLE=a.wav\n"))
        #expect(environment.contains("\nNOWPLAYING_ACTIVE=1\n") && environment.contains("\nDURATION_MS=60000\n"))
        #expect(house.text("broken").isEmpty)
        // The state, the file that is written, the log, and the folder that is listed.
        let descriptors = house.text("descriptors").split(separator: "\n").filter { $0.contains("->") }
        #expect(descriptors.count == 4, "\(descriptors)")
        #expect(descriptors.contains { $0.contains("memfd:nowplaying-state") })
        let group = house.text("group").split(separator: "\n")
        #expect(group.count == 2 && group[0] == group[1])
        await house.tool("pause")
        #expect(house.comes("active-ended:sink:paused", in: "ran"))
        #expect(house.comes("/bin/sh ended with status", in: "hooks.log"))
        // The daemon comes back as another.
        daemon.stop()
        #expect(house.comes("daemon-lost:session_disconnected:", in: "ran"))
        let second = await house.startDaemon()
        #expect(becomes { house.text("ran").split(separator: "\n").filter { $0.hasPrefix("snapshot") }.count == 2 })
        second.stop()
        #expect(hooks.stop() == 0)
    }

    @Test func hangingForkingFloodingAndDyingHooks() async {
        hook("hang", "echo hang $$ >> ran; trap '' TERM; sleep 300 & wait; sleep 300")
        hook("fork", "(sleep 300) & echo fork $! >> ran")
        hook("flood", "echo flood >> ran; exec yes")
        hook("die", "echo die >> ran; kill -SEGV $$")
        house.write("hooks.d/text", "no program", mode: 0o755)
        house.write("hooks.d/world", "#!/bin/sh\ntouch \(house.folder.path("world"))\n", mode: 0o757)
        let daemon = await house.startDaemon()
        let hooks = await start("timeout = 0.3\n")
        for message in [
            "hang exceeded its timeout", "die was killed by signal 11", "flood was killed by signal 13",
            "text does not run: cannot start: Exec format error; a script begins with",
            "world does not run: it is writable",
        ] { #expect(house.comes(message, in: "hooks.log"), "\(message)\n\(house.text("hooks.log"))") }
        #expect(house.comes("fork", in: "ran"))
        // Nothing of a group is left, ignored signals or not.
        for line in house.text("ran").split(separator: "\n") {
            guard let pid = line.split(separator: " ").last.flatMap({ Int32($0) }) else { continue }
            #expect(
                becomes { kill(pid, 0) != 0 || TestProcess.run(["cat", "/proc/\(pid)/stat"]).text.contains(") Z ") })
        }
        #expect(access(house.folder.path("world"), F_OK) != 0)
        // The output is bounded, also in the log.
        #expect(house.text("hooks.log").utf8.count < 64 << 10)
        let list = await house.tool("hooks")
        #expect(list.status == 0 && list.text.contains("snapshot: was killed by signal 11"), "\(list.text)")
        #expect(list.text.contains("world does not run: it is writable by others"))
        #expect(hooks.stop() == 0)
        daemon.stop()
    }

    @Test func aSlowHookMissesEventsButNotTheLastState() async {
        hook("slow", "echo \"$NOWPLAYING_EVENTS=$NOWPLAYING_STATE\" >> ran; [ -e go ] || { mkfifo go; cat go; }")
        let daemon = await house.startDaemon()
        let hooks = await start("events = play, pause, stop\n")
        #expect(house.comes("", in: "hooks.log"))
        #expect(becomes { access(house.folder.path("nowplaying-hooks/control.sock"), F_OK) == 0 })
        await house.tool("play", sound())
        #expect(house.comes("play=playing", in: "ran"))
        await house.tool("pause")
        await house.tool("play")
        await house.tool("stop")
        // These events reached the bridge before this call.
        #expect(await house.tool("hooks").status == 0)
        #expect(becomes { access(house.folder.path("go"), F_OK) == 0 })
        house.write("go", "")
        #expect(house.comes("pause play stop=stopped", in: "ran"), "\(house.text("ran"))")
        #expect(house.text("ran").split(separator: "\n").count == 2)
        hooks.stop()
        daemon.stop()
    }

    @Test func runsOfOneProgramWithOtherArgumentsTakeNothingAway() async {
        let program = house.write(
            "amplifier",
            """
            #!/bin/sh
            cd \(house.folder.path)
            echo "$1: $NOWPLAYING_EVENTS" >> ran; [ -e go ] || { mkfifo go; cat go; }

            """)
        let daemon = await house.startDaemon()
        let hooks = await start(
            "timeout = 60\nquiet-time = 0\nactive-began = \(program) on\nactive-ended = \(program) off\n"
                + "volume = \(program) lamp\n")
        await house.tool("play", sound())
        #expect(house.comes("on: active-began", in: "ran"), "\(house.text("hooks.log"))")
        #expect(becomes { access(house.folder.path("go"), F_OK) == 0 })
        // While the first run lasts, the sound ends, and the newest event is another one of the same program.
        await house.tool("pause")
        let socket = house.folder.path("nowplaying-hooks/control.sock")
        #expect(becomes { access(socket, F_OK) == 0 })
        await house.tool("volume", "30")
        await house.tool("volume", "40")
        // These events reached the bridge before this call.
        #expect(await house.tool("hooks").status == 0)
        house.write("go", "")
        #expect(house.comes("off: active-ended\nlamp: volume\n", in: "ran"), "\(house.text("ran"))")
        let list = await house.tool("hooks")
        #expect(list.text.contains("\(program) off"), "\(list.text)")
        #expect(hooks.stop() == 0)
        daemon.stop()
    }

    @Test func theOwnerCanTryOne() async {
        hook("lamp", "echo lamp $1 $NOWPLAYING_EVENT; exit 3")
        let none = await house.tool("hooks")
        #expect(none.status == 8 && none.text.contains("nowplaying-hooks does not answer"), "\(none.text)")
        let command = house.folder.path("hooks.d/lamp")
        let hooks = await start(
            "directory = /nonexistent\nactive-began = \(command) on\nactive-ended = \(command) off\n")
        #expect(becomes { access(house.folder.path("nowplaying-hooks/control.sock"), F_OK) == 0 })
        let early = await house.tool("hooks", "test", "lamp")
        #expect(early.status == 1 && early.text.contains("no daemon runs"), "\(early.text)")
        let daemon = await house.startDaemon()
        #expect(becomes { TestProcess.run(["grep", "-c", "x", "/dev/null"]).status == 1 })
        var off = (status: Int32(0), text: "")
        for _ in 0..<50 {
            off = await house.tool("hooks", "test", "lamp", "active-ended")
            if off.text.contains("active-ended") { break }
        }
        #expect(off.status == 1 && off.text.contains("lamp off active-ended\n"), "\(off.text)")
        #expect(off.text.contains("active-ended: ended with status 3 after"))
        let list = await house.tool("hooks")
        #expect(list.text.contains("\(command) on  active-began\n") && list.text.contains("ended with status 3"))
        #expect(await house.tool("hooks", "test", "none").text.contains("there is no hook “none”"))
        #expect(await house.tool("hooks", "test", "lamp", "x").text.contains("there is no event “x”"))
        #expect(await house.tool("hooks", "nonsense").status == 2)
        hooks.stop()
        daemon.stop()
    }

    @Test func nothingHappensNothingWakes() async {
        let hooks = await start()
        #expect(becomes { access(house.folder.path("nowplaying-hooks/control.sock"), F_OK) == 0 })
        let daemon = await house.startDaemon()
        await house.tool("play", sound())
        #expect(hooks.sleepsForASecond)
        daemon.stop()
        hooks.stop()
    }

    @Test(arguments: [
        ("[hooks]\nplai = /bin/true\n", "unknown setting “plai” in [hooks]; did you mean “play”?"),
        (
            "[hooks]\nplay = true\n",
            "invalid value “true” for “play” in [hooks] (expected an absolute path of a program"
        ),
        ("[hooks]\ntimeout = 0\n", "invalid value “0” for “timeout” in [hooks] (expected seconds from 0.1 to 3600)"),
        ("[hooks]\nevents = play, noise\n", "for “events” in [hooks] (expected names of events"),
        ("[output]\nsink = x\n[hooks]\nplay = /bin/true a b\nquiet-time = 5\n", "The configuration is valid."),
    ])
    func configuration(text: String, message: String) async {
        let path = house.write("hooks.conf", text)
        let run = await house.run([House.program("nowplaying-hooks"), "--config", path, "--check-config"])
        #expect(run.text.contains(message), "\(run.text)")
        #expect(run.status == (message.contains("is valid") ? 0 : 78))
    }
}
