import Testing

/// `aionowplayingd`: its wheel, its types, and its tests beside the programs of this build.
@Suite struct PythonClientTests {
    @Test func theTestsOfThePackage() throws {
        let scratch = try Scratch()
        let run = try ScriptRun([ScriptRun.root + "/Scripts/test-python", try ScriptRun.programs()], in: scratch)
        #expect(run.status == 0, "\(run.text)\(run.errors)")
        // unittest reports to standard error.
        let ran = run.errors.firstMatch(of: /Ran (\d+) tests/).flatMap { Int($0.1) } ?? 0
        #expect(ran >= 15, "\(run.errors)")
        #expect(!run.errors.contains("skipped="), "NOT TESTED: a part of aionowplayingd: \(run.errors)")
    }
}
