import Foundation
import Testing

/// `Scripts/run`, which `make run` calls: the whole path from a file to a sound server.
@Suite(.serialized) struct RunTests {
    private let folder: Scratch

    init() throws {
        folder = try Scratch()
        try FileManager.default.createDirectory(atPath: folder.path + "/tmp", withIntermediateDirectories: true)
    }

    /// The environment of a user without a sound server.
    private func environment() throws -> [String: String] {
        [
            "NOWPLAYING_PROGRAMS": try ScriptRun.programs(), "TMPDIR": folder.path + "/tmp",
            "PULSE_SERVER": "unix:/nowhere", "HOME": folder.path, "XDG_RUNTIME_DIR": folder.path,
            "XDG_CONFIG_HOME": folder.path, "TERM": "xterm", "LANG": "C.UTF-8",
        ]
    }

    private func play(_ arguments: String...) throws -> ScriptRun {
        try ScriptRun([ScriptRun.root + "/Scripts/run"] + arguments, environment: try environment(), in: folder)
    }

    /// Files that it left, and processes that name its folder.
    private func leftovers() throws -> [String] {
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/tmp")
        let processes = try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { name in
            guard Int(name) != nil, let line = FileManager.default.contents(atPath: "/proc/\(name)/cmdline") else {
                return false
            }
            return String(decoding: line, as: UTF8.self).contains(folder.path + "/tmp/nowplaying-run")
        }
        return files + processes
    }

    /// A second of a tone, made from the tune.
    private func short() throws -> String {
        let tune = try ScriptRun(
            ["awk", "-f", ScriptRun.root + "/Scripts/tune.awk"], environment: ["LC_ALL": "C"], in: folder)
        var bytes = Array(tune.output.prefix(tune.output.count - 7 * 44100 * 4))
        func put(_ value: Int, at place: Int) { for i in 0..<4 { bytes[place + i] = UInt8(value >> (8 * i) & 255) } }
        put(bytes.count - 8, at: 4)
        put(44100 * 4, at: bytes.count - 44100 * 4 - 4)
        let path = folder.path + "/short.wav"
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        return path
    }

    @Test func playsAFileToItsEndOnAMachineWithoutSound() throws {
        let run = try play(try short())
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors.contains("No sound server answers"))
        #expect(run.text.contains("Hello from nowplayingd"))
        #expect(run.text.contains("ended"))
        #expect(!run.text.contains("\u{1B}"))
        #expect(try leftovers() == [])
    }

    @Test func showsAMovingLineOnATerminal() throws {
        let path = try short()
        let run = try ScriptRun(
            ["script", "--quiet", "--return", "--command", "'\(ScriptRun.root)/Scripts/run' '\(path)'", "/dev/null"],
            environment: try environment(), in: folder)
        #expect(run.status == 0, "\(run.text)\(run.errors)")
        #expect(run.text.contains("Hello from nowplayingd"))
        #expect(run.text.contains("\r") && run.text.contains("\u{1B}[K"))
        #expect(run.text.contains("0:01"))
        #expect(try leftovers() == [])
    }

    @Test func aFileThatIsNotThereIsAnErrorInWords() throws {
        let run = try play("missing.flac")
        #expect(run.status == 1)
        #expect(run.errors.contains("There is no \(folder.path)/missing.flac"))
        #expect(try leftovers() == [])
    }

    @Test func aFileThatIsNoSoundIsAnErrorInWords() throws {
        try folder.write("text.flac", "this is no FLAC file\n")
        let run = try play("text.flac")
        #expect(run.status != 0)
        #expect(run.errors.contains("text.flac"))
        #expect(try leftovers() == [])
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGKILL]) func leavesNothingRunningWhenItIsEnded(signal: Int32) throws {
        // Plays the whole tune, and is ended as soon as it is heard.
        let output = folder.path + "/out"
        let child = try Child(
            [ScriptRun.root + "/Scripts/run"], environment: try environment(), in: folder, output: output,
            isLimited: false)
        let limit = Date(timeIntervalSinceNow: 30)
        while try !String(contentsOfFile: output, encoding: .utf8).contains("playing"), Date() < limit {
            usleep(10_000)
        }
        kill(child.pid, signal)
        #expect(child.wait() == 128 + signal)
        // A killed script can't clean up its files, and the kernel ends its processes soon.
        let end = Date(timeIntervalSinceNow: 10)
        while try leftovers().contains(where: { Int($0) != nil }), Date() < end { usleep(10_000) }
        #expect(try leftovers().filter { signal != SIGKILL || Int($0) != nil } == [])
    }
}
