import Foundation
import Testing

/// The scripts around the fuzzer.
@Suite struct FuzzScriptTests {
    @Test func inputsOfOneNameFromTwoFoldersAreBothKept() throws {
        let scratch = try Scratch()
        try scratch.write("corpus/0", "first")
        try scratch.write("seeds/0", "second, which is longer")
        try scratch.write("seeds/a name", "first")
        try scratch.write("next/.keep", "")
        let run = try ScriptRun(
            [
                "sh", "-c", "printf '%s\\n' corpus/0 seeds/0 'seeds/a name' | \"$0\" 6 next",
                ScriptRun.root + "/Scripts/fuzz-keep",
            ], in: scratch)
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path + "/next")
            .filter { !$0.hasPrefix(".") }.sorted()
        // SHA-1 of "first" and "second".
        #expect(names == ["352f7829a2384b001cc12b0c2613c756454a1f6a", "e0996a37c13d44c3b06074939d43fa3759bd32c1"])
    }
}
