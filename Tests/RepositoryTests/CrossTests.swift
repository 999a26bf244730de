import Foundation
import Testing

/// The scripts that build and boot for arm64, without their half a gigabyte: what they refuse, and what they ask for.
@Suite struct CrossTests {
    private let folder: Scratch

    init() throws { folder = try Scratch() }

    private func run(_ command: [String], _ environment: [String: String] = [:]) throws -> ScriptRun {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return try ScriptRun(
            command, environment: ["PATH": path, "HOME": folder.path].merging(environment) { $1 }, in: folder)
    }

    @Test func anotherProcessorIsRefused() throws {
        let other = try run(["make", "-C", ScriptRun.root, "deb", "ARCH=armhf"])
        #expect(other.status != 0)
        #expect(other.errors.contains("cannot build for armhf"), "\(other.errors)")
    }

    @Test func aPackageForThisProcessorIsTheUsualOne() throws {
        let own = try run(["dpkg", "--print-architecture"]).text.filter { $0 != "\n" }
        let usual = try run(["make", "-n", "-C", ScriptRun.root, "deb"])
        let named = try run(["make", "-n", "-C", ScriptRun.root, "deb", "ARCH=\(own)"])
        #expect(named.status == 0 && named.text == usual.text && named.text.contains("Scripts/deb"))
        let cross = try run(["make", "-n", "-C", ScriptRun.root, "deb", "ARCH=arm64"])
        #expect(cross.text.contains(own == "arm64" ? "Scripts/deb" : "Scripts/cross"), "\(cross.text)")
    }

    @Test func aMirrorWithoutListsIsNamedAndLeavesNothing() throws {
        let cache = folder.path + "/cache"
        let run = try run(
            [ScriptRun.root + "/Scripts/sysroot"],
            ["DEBIAN_MIRROR": "file://\(folder.path)/nothing", "NOWPLAYING_CROSS": cache])
        #expect(run.status == 77)
        #expect(run.errors.contains("cannot build for arm64"), "\(run.errors)")
        #expect(!FileManager.default.fileExists(atPath: cache + "/root"))
        #expect(!FileManager.default.fileExists(atPath: cache + "/made"))
    }

    /// The development files of the sysroot are those of the sets, each once; the question installs nothing.
    @Test func namesOfSetsAreListed() throws {
        try folder.write("bin/apt-get", "#!/bin/sh\ntouch '\(folder.path)/called'\n", executable: true)
        let run = try run(
            [ScriptRun.root + "/Scripts/packages", "--names", "play", "build", "decode"],
            ["PATH": folder.path + "/bin:/usr/bin:/bin"])
        let names = run.text.split(separator: "\n")
        #expect(run.status == 0 && names.contains("libflac-dev") && names.contains("libavformat-dev"), "\(run.errors)")
        #expect(Set(names).count == names.count)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/called"))
    }

    @Test func anEmulatedMachineNeedsItsTools() throws {
        try folder.write("bin/id", "#!/bin/sh\necho 1000\n", executable: true)
        let user = try run(
            [ScriptRun.root + "/Scripts/box-arm64", "short"], ["PATH": folder.path + "/bin:/usr/bin:/bin"])
        #expect(user.status == 77 && user.errors.contains("it needs root"), "\(user.errors)")
    }
}
