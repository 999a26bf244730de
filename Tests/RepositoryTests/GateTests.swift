import Foundation
import Testing

/// The scripts that check a change, in a fake repository: each called program is a line that reports its result.
@Suite struct GateTests {
    private let folder: Scratch

    init() throws { folder = try Scratch() }

    /// A program that they call.
    private func tool(_ name: String, _ script: String) throws {
        try folder.write(name, "#!/bin/bash\n\(script)\n", executable: true)
    }

    /// Runs one of them as it is, with the tools in `bin` before all others.
    private func run(_ script: String, _ environment: [String: String] = [:]) throws -> ScriptRun {
        for name in [script, "Scripts/rows.sh"] {
            let text = try String(contentsOfFile: ScriptRun.root + "/" + name, encoding: .utf8)
            try folder.write(name, text, executable: true)
        }
        let path = folder.path + "/bin:" + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")
        return try ScriptRun(
            [folder.path + "/" + script], environment: environment.merging(["PATH": path]) { $1 }, in: folder)
    }

    @Test func theNightTriesAllAndTellsOfEach() throws {
        for name in ["test", "sanitize", "fuzz", "soak", "faults", "test-homeassistant", "microbenchmarks"] {
            try tool("Scripts/" + name, "echo \"\(name) $* ${NOWPLAYING_NIGHTLY:-} ${TRACKS:-}\" >> calls")
        }
        // A machine that can make no bare system.
        try tool("Scripts/newcomer", "echo \"newcomer $* ${FILTER:+filter}\" >> calls; exit 77")
        try tool("Scripts/box-arm64", "echo \"box-arm64 $*\" >> calls; exit 77")
        try tool("Scripts/run-tests", "echo \"run-tests ${1:-} ${NOWPLAYING_NIGHTLY:-}\" >> calls")
        let good = try run("Scripts/nightly")
        #expect(good.status == 0, "\(good.errors)")
        #expect(!good.text.contains("FAILED"))
        try tool("Scripts/sanitize", "echo \"sanitize $1\" >> calls; [ \"$1\" != thread ]")
        try folder.write("calls", "")
        let bad = try run("Scripts/nightly", ["MINUTES": "3", "NOWPLAYING_NIGHTLY": "", "TRACKS": ""])
        #expect(bad.status == 1)
        let calls = try String(contentsOfFile: folder.path + "/calls", encoding: .utf8).split(separator: "\n")
        #expect(
            calls.map { $0.trimmingCharacters(in: .whitespaces) } == [
                "test  1", "run-tests --no-parallel 1", "sanitize thread", "sanitize address", "fuzz 3", "soak   10000",
                "faults",
                "test-homeassistant .build/debug --long", "microbenchmarks", "newcomer trixie filter",
                "newcomer bookworm short", "box-arm64",
            ])
        let lines = bad.text.split(separator: "\n").suffix(12).map { $0.prefix { $0 != "," } }
        #expect(lines.filter { $0.hasPrefix("FAILED") } == ["FAILED  Scripts/sanitize thread"])
        #expect(lines.filter { $0.hasPrefix("passed") }.count == 8)
        #expect(lines.filter { $0.hasPrefix("skipped") }.count == 3)
    }

    @Test(arguments: [
        ("Test run with 12 tests in 3 suites passed", 0 as Int32), ("Test run with 0 tests in 0 suites passed", 1),
        ("nothing", 1),
    ])
    func aRunOfNoTestIsAFailure(_ line: String, _ status: Int32) throws {
        try tool("Scripts/decode.sh", "")
        try tool("Scripts/build-tests", "")
        try tool("Scripts/run-tests", "echo '\(line)'")
        #expect(try run("Scripts/test", ["FILTER": "x"]).status == status)
        // One part of several.
        try tool(
            "Scripts/run-tests",
            """
            case $* in
                *"--skip "*BitExact*) echo '\(line)' ;;
                *) echo 'Test run with 5 tests in 1 suite passed' ;;
            esac
            """)
        #expect(try run("Scripts/test", ["FILTER": ""]).status == (line == "nothing" ? 0 : status))
    }

    /// A line of the runner that quotes the arguments of a test is not a result.
    @Test func linesOfOtherRunsAreNotCounted() throws {
        try tool("Scripts/decode.sh", "")
        try tool("Scripts/build-tests", "")
        let given = "◇ Test case passing 1 argument line → \"Test run with 0 tests in 0 suites passed\""
        try tool("Scripts/run-tests", "printf '%s\\n' '\(given)' '✔ Test run with 5 tests in 1 suite passed'")
        #expect(try run("Scripts/test", ["FILTER": "x"]).status == 0)
        try tool("Scripts/run-tests", "printf '%s\\n' '\(given.replacingOccurrences(of: "with 0", with: "with 3"))'")
        #expect(try run("Scripts/test", ["FILTER": "x"]).status == 1)
    }

    @Test func whatCouldNotBeTestedIsTold() throws {
        try tool("Scripts/decode.sh", "")
        try tool("Scripts/build-tests", "")
        try tool(
            "Scripts/run-tests", "printf '%s\\n' 'Suite X skipped: \"NOT TESTED: it\"' 'Test run with 2 tests passed'")
        let run = try run("Scripts/test", ["FILTER": "x"])
        #expect(run.status == 0)
        #expect(run.text.split(separator: "\n").contains("NOT TESTED: it"))
    }

    /// Result of a count: `a.b` costs this number of instructions.
    private func microbenchmarks(_ cost: Int, libc: String, names: String = "a.b") throws -> ScriptRun {
        try tool("Scripts/build", "")
        try tool(".build/release/microbenchmarks", "echo \(names)")
        try tool(
            "bin/valgrind",
            "[ \"$1\" = --version ] && echo valgrind-3.19.0 && exit; echo \"I  refs: $((${@: -1} * \(cost)))\" >&2")
        try tool("bin/ldd", "echo '\(libc)'")
        try tool("bin/swift", "echo 'Swift version 6.3.1 (swift-6.3.1-RELEASE)'")
        return try run("Scripts/microbenchmarks")
    }

    @Test func microbenchmarksAreJudgedByVersionsAndNames() throws {
        let machine = try ScriptRun(["uname", "-m"], in: folder).text.filter { $0 != "\n" }
        try folder.write(
            "Benchmarks/instructions.json",
            """
            {"tools": {"compiler": "Swift version 6.3.1 (swift-6.3.1-RELEASE)", "libc": "ldd 2.36",
            "valgrind": "valgrind-3.19.0", "machine": "\(machine)"}, "instructions": {"a.b": 100}}
            """)
        let patched = "ldd (Debian GLIBC 2.36-9+deb12u99) 2.36"
        let same = try microbenchmarks(100, libc: patched)
        #expect(same.status == 0 && !same.text.contains("nothing is judged"), "\(same.text)\(same.errors)")
        let dearer = try microbenchmarks(110, libc: patched)
        #expect(dearer.status == 1 && dearer.text.contains("a.b: 100 -> 110 instructions"))
        let other = try microbenchmarks(110, libc: "ldd (Debian GLIBC 2.41-12) 2.41")
        #expect(other.status == 0 && other.text.contains("nothing is judged"))
        for libc in [patched, "ldd (Debian GLIBC 2.41-12) 2.41"] {
            let more = try microbenchmarks(100, libc: libc, names: "a.b c.d")
            #expect(more.status == 1 && more.errors.contains("c.d: counted, and not in instructions.json"))
            let fewer = try microbenchmarks(100, libc: libc, names: "c.d")
            #expect(fewer.status == 1 && fewer.errors.contains("a.b: in instructions.json, and not counted any more"))
        }
    }

    @Test(arguments: ["lint", "test", "microbenchmarks", "build", "test-clients", "newcomer", ""])
    func aChangePassesEachStepOrTheRunEnds(_ failing: String) throws {
        try tool("bin/make", "echo \"$1\" >> calls; echo \"$*, ${LIMIT:-0}\" > last; [ \"$1\" != '\(failing)' ]")
        let run = try run(".ci/run")
        #expect((run.status == 0) == failing.isEmpty, "\(run.errors)")
        let calls = try String(contentsOfFile: folder.path + "/calls", encoding: .utf8).split(separator: "\n")
        let steps: [Substring] = ["lint", "test", "microbenchmarks", "build", "test-clients", "newcomer"]
        let last = steps.firstIndex { $0 == failing } ?? steps.count - 1
        #expect(calls == Array(steps[...last]))
        #expect(run.text.contains("== all of it passed") == failing.isEmpty)
        guard last == steps.count - 1 else { return }
        // The bare system ends by itself before the run has to.
        let words = try String(contentsOfFile: folder.path + "/last", encoding: .utf8).split(whereSeparator: {
            ", \n".contains($0)
        })
        #expect(words.dropLast() == ["newcomer", "SHORT=yes"])
        #expect((5000...5220).contains(Int(words.last ?? "") ?? 0))
    }
}
