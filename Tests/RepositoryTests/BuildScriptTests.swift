import Foundation
import Testing

/// `Scripts/build` with a toolchain that only notes its calls.
@Suite struct BuildScriptTests {
    private let folder: Scratch

    init() throws {
        folder = try Scratch()
        for name in ["build", "decode.sh", "target.sh"] {
            let text = try String(contentsOfFile: ScriptRun.root + "/Scripts/" + name, encoding: .utf8)
            try folder.write("Scripts/" + name, text, executable: true)
        }
        try tool("Scripts/library-names", "")
        try folder.write("Sources/One.swift", "1\n")
        try folder.write("Package.swift", "")
        try tool("bin/clang", "echo none")
        try tool("bin/swift-frontend", "")
        try tool("bin/pkg-config", "exit 1")
        // The packages of the system.
        try folder.write("packages", "1\n")
        try tool("bin/stat", "/usr/bin/stat \"$@\"; cat \(folder.path)/packages")
        try tool(
            "bin/swift",
            """
            echo "$NOWPLAYING_ONLY" >> calls
            mkdir -p .build/release
            for name in $NOWPLAYING_ONLY; do echo "$name $(cat Sources/One.swift)" > .build/release/$name; done
            echo '[1/2] Compiling One'; echo '[2/2] Linking nowplayingd'
            """)
    }

    private func tool(_ name: String, _ script: String) throws {
        try folder.write(name, "#!/bin/bash\n\(script)\n", executable: true)
    }

    /// A run, and the programs that the toolchain built in it; nil: it was not called.
    private func build(_ words: String...) throws -> (run: ScriptRun, programs: [String]?) {
        try folder.write("calls", "")
        let run = try ScriptRun(
            [folder.path + "/Scripts/build"] + words,
            environment: ["PATH": folder.path + "/bin:/usr/bin:/bin", "HOME": folder.path], in: folder)
        let calls = try String(contentsOfFile: folder.path + "/calls", encoding: .utf8).split(separator: "\n")
        #expect(calls.count < 2)
        return (run, calls.first.map { $0.split(separator: " ").map(String.init) })
    }

    private func built(_ name: String) -> String? {
        try? String(contentsOfFile: folder.path + "/build/" + name, encoding: .utf8)
    }

    @Test func oneCallBuildsAllAndAnotherRunNothing() throws {
        let first = try build()
        try #require(first.run.status == 0, "\(first.run.errors)")
        #expect(first.programs?.count == 10)
        for name in first.programs ?? [] { #expect(built(name) == "\(name) 1\n") }
        // Lines for people, not those of the compiler.
        #expect(first.run.errors.contains("Building: 1 of 2 steps, 0 of 10 programs"), "\(first.run.errors)")
        #expect(!first.run.errors.contains("Compiling One"))
        let log = try String(contentsOfFile: folder.path + "/build/build.log", encoding: .utf8)
        #expect(log.contains("[1/2] Compiling One"))
        #expect(try build().programs == nil)
    }

    @Test(arguments: ["source", "new source", "package", "toolchain", "program", "script"])
    func aChangeIsSeen(of what: String) throws {
        _ = try build()
        try #require(try build().programs == nil)
        switch what {
        case "source": try folder.write("Sources/One.swift", "2\n")
        case "new source": try folder.write("Sources/Two.swift", "")
        case "package": try folder.write("packages", "2\n")
        case "toolchain": try tool("bin/swift-frontend", "# new")
        case "program": _ = try ScriptRun(["rm", folder.path + "/build/nowplaying-mpd"], in: folder)
        default: try tool("Scripts/library-names", "[ -e Sources/Names.h ] || echo '#define A' > Sources/Names.h")
        }
        #expect(try build().programs?.count == 10)
        #expect(built("nowplaying-mpd") == (what == "source" ? "nowplaying-mpd 2\n" : "nowplaying-mpd 1\n"))
        #expect(try build().programs == nil)
    }

    @Test func aPlayerNeedsFewPrograms() throws {
        let few = ["nowplayingd", "nowplayingctl", "nowplaying-tags"]
        let first = try build("play", "tune.wav")
        #expect(first.programs == few)
        #expect(!first.run.errors.contains("nowplaying-decode"))
        try folder.write("Music/.keep", "")
        #expect(try build("play", "~/Music").programs == few + ["nowplaying-library"])
        // A page of an earlier version would be a change that is missed.
        try folder.write("build/nowplaying-web", "old")
        #expect(try build("play").programs == few + ["nowplaying-library", "nowplaying-web"])
        #expect(built("nowplaying-web") == "nowplaying-web 1\n")
    }

    @Test func aFailureShowsItsErrorsAndTheLog() throws {
        try tool("bin/swift", "echo '[1/9] Compiling'; echo 'One.swift:1:1: error: it is wrong'; exit 1")
        let run = try build().run
        #expect(run.status == 1)
        #expect(run.errors.contains("One.swift:1:1: error: it is wrong"))
        #expect(run.errors.contains("the whole log is in \(folder.path)/build/build.log"), "\(run.errors)")
        #expect(built("nowplayingd") == nil)
    }

    @Test func aFullDiskIsNamedBefore() throws {
        try tool("bin/df", "echo Avail; echo 1000000")
        let build = try build()
        #expect(build.run.status == 1 && build.programs == nil)
        #expect(build.run.errors.contains("needs 2 GB") && build.run.errors.contains("1000 MB are free"))
    }
}
