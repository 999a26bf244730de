import Foundation
import Glibc
import Testing

/// `Scripts/library-names`, in a folder of its own, with the libraries of this system.
@Suite struct LibraryNamesTests {
    private let folder: Scratch
    private static let header = "Sources/SystemLibraries/CLibraryNames/include/Names.h"

    init() throws {
        folder = try Scratch()
        for name in ["library-names", "target.sh"] {
            let script = try String(contentsOfFile: ScriptRun.root + "/Scripts/" + name, encoding: .utf8)
            try folder.write("Scripts/" + name, script, executable: true)
        }
        try folder.write("Sources/SystemLibraries/CLibraryNames/include/.keep", "")
        try status("1")
    }

    /// Other programs than the script's own are those of the system; `words` stand for the state of dpkg.
    private func status(_ words: String) throws {
        try folder.write("bin/stat", "#!/bin/sh\necho '\(words)'\n", executable: true)
    }

    private func make(_ path: [String] = []) throws -> ScriptRun {
        let system = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return try ScriptRun(
            [folder.path + "/Scripts/library-names"],
            environment: ["PATH": ([folder.path + "/bin"] + path + [system]).joined(separator: ":")], in: folder)
    }

    private func names() throws -> [String: String] {
        let text = try String(contentsOfFile: folder.path + "/" + Self.header, encoding: .utf8)
        var names: [String: String] = [:]
        for line in text.split(separator: "\n") where line.hasPrefix("#define ") {
            let words = line.split(separator: " ")
            names[String(words[1])] = words[2].trimmingCharacters(in: ["\""])
        }
        return names
    }

    /// When the header was written.
    private func time() throws -> Date {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/" + Self.header)
        return try #require(attributes[.modificationDate] as? Date)
    }

    @Test func eachNameOpensAndEachPackageHasItsFile() throws {
        let run = try make()
        try #require(run.status == 0, "\(run.errors)")
        let names = try names()
        let files = names.filter { $0.key.hasSuffix("_FILE") && !$0.key.hasPrefix("LIBRARY_AVFORMAT") }
        #expect(files.count == 11)
        for (key, file) in files {
            #expect(dlopen(file, RTLD_LAZY | RTLD_LOCAL) != nil, "\(file)")
            let package = try #require(names[key.dropLast(4) + "PACKAGE"])
            let list = try ScriptRun(["dpkg-query", "--listfiles", package], in: folder)
            #expect(list.text.contains("/\(file)\n"), "\(package) does not have \(file)")
        }
        // The headers that are compiled belong to the library that opens.
        let flac = try ScriptRun(["bash", "-c", "readlink -f \"$(clang -print-file-name=libFLAC.so)\""], in: folder)
        #expect(flac.text.contains(try #require(names["LIBRARY_FLAC_FILE"])))
    }

    @Test func aHeaderThatIsRightStays() throws {
        try #require(try make().status == 0)
        let first = try time()
        #expect(try make().status == 0)
        // dpkg has changed something else.
        try status("2")
        #expect(try make().status == 0)
        #expect(try time() == first)
    }

    @Test func aChangeOfPackagesIsSeen() throws {
        try #require(try make().status == 0)
        let right = try names()
        try folder.write(Self.header, "#define LIBRARY_FLAC_FILE \"old\"\n")
        try status("2")
        #expect(try make().status == 0)
        #expect(try names() == right)
        _ = try ScriptRun(["rm", folder.path + "/" + Self.header], in: folder)
        #expect(try make().status == 0)
        #expect(try names() == right)
    }

    @Test func missingDevelopmentFilesAreNamed() throws {
        try folder.write("tools/swift", "#!/bin/sh\n", executable: true)
        try folder.write(
            "tools/clang", "#!/bin/sh\necho 'ld.lld: error: unable to find library -lFLAC' >&2\nexit 1\n",
            executable: true)
        try folder.write("tools/llvm-objdump", "#!/bin/sh\n", executable: true)
        let run = try make([folder.path + "/tools"])
        #expect(run.status == 1)
        #expect(run.errors.contains("unable to find library -lFLAC"), "\(run.errors)")
        #expect(run.errors.contains("type: Scripts/packages build"), "\(run.errors)")
        #expect(try ScriptRun(["test", "-e", folder.path + "/" + Self.header], in: folder).status == 1)
    }
}
