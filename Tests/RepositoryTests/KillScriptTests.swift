import Foundation
import Testing

/// The campaign that kills all programs (`make faults`), in short.
@Suite(.timeLimit(.minutes(5))) struct KillScriptTests {
    @Test("no kill of any program loses an answered item, a position or a door") func kills() throws {
        let script = ScriptRun.root + "/Tests/Faults/kills.py"
        let seed = 4711
        let run = try ScriptRun(["python3", script, try ScriptRun.programs(), "15", "\(seed)"], in: try Scratch())
        #expect(run.status == 0, "\(run.text)\(run.errors)")
        #expect(run.text.hasPrefix("15 kills, seed \(seed), from kill 1\n"))
        #expect(run.text.contains("| 15 | 0 differences (seed \(seed)): "), "\(run.text)")
    }

    @Test("a program that loses what it answered is found") func loss() throws {
        // A daemon that forgets its state with each start. The fifth kill is the first of the daemon; without a queue, each
        // later one waits for a play that does not come.
        let scratch = try Scratch()
        let programs = try ScriptRun.programs()
        for name in ["nowplaying-library", "nowplaying-mpd", "nowplaying-web", "nowplaying-decode", "nowplaying-tags"] {
            try FileManager.default.createSymbolicLink(
                atPath: scratch.path + "/" + name, withDestinationPath: programs + "/" + name)
        }
        let text = """
            #!/bin/sh
            for word; do
                [ "$before" = --state-directory ] && rm -rf "$word"; before=$word
            done
            exec "\(programs)/nowplayingd" "$@"
            """
        try scratch.write("nowplayingd", text)
        chmod(scratch.path + "/nowplayingd", 0o755)
        let script = ScriptRun.root + "/Tests/Faults/kills.py"
        let run = try ScriptRun(["timeout", "100", "python3", script, scratch.path, "6", "1"], in: scratch)
        #expect(run.status == 1 && run.text.contains("DIFFERENCE kill "), "\(run.text)\(run.errors)")
    }
}
