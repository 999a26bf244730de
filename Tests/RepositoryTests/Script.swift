import Foundation
import TestSupport

/// One run of a script of the repository.
struct ScriptRun {
    /// The root of this checkout.
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    /// The folder of the programs that were built with the tests.
    static func programs() throws -> String {
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        for candidate in [own] + CommandLine.arguments {
            guard let range = candidate.range(of: "/debug/") ?? candidate.range(of: "/release/") else { continue }
            let folder = String(candidate[..<range.upperBound].dropLast())
            if FileManager.default.isExecutableFile(atPath: folder + "/nowplayingd") { return folder }
        }
        throw NotBuilt()
    }

    /// The programs do not lie beside the tests.
    struct NotBuilt: Error {}

    let status: Int32
    let output: [UInt8]
    let errors: String

    /// Standard output as text.
    var text: String { String(decoding: output, as: UTF8.self) }

    /// Runs a program to its end, two minutes at most. Names without a slash are looked up in `environment["PATH"]` or
    /// this process's own.
    init(_ command: [String], environment: [String: String] = [:], in folder: Scratch) throws {
        let place = folder.path + "/."
        let child = try Child(
            command, environment: environment, in: folder, output: place + "output", errors: place + "errors")
        status = child.wait()
        output = Array(try Data(contentsOf: URL(fileURLWithPath: place + "output")))
        errors = String(decoding: try Data(contentsOf: URL(fileURLWithPath: place + "errors")), as: UTF8.self)
    }
}

/// A process that a test starts, with nothing of ours open.
struct Child {
    let pid: pid_t

    init(
        _ command: [String], environment: [String: String] = [:], in folder: Scratch, output: String = "/dev/null",
        errors: String = "/dev/null", isLimited: Bool = true
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        let words =
            (isLimited ? ["/usr/bin/timeout", "--foreground", "120"] : [])
            + ["/usr/bin/env", "--chdir", folder.path]
            + environment.map { "\($0.key)=\($0.value)" } + command
        var argv: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for word in argv { free(word) } }
        var started: pid_t = 0
        let result = withSpawnAttributes { posix_spawn(&started, words[0], &actions, $0, &argv, environ) }
        guard result == 0 else { throw POSIXError(POSIXErrorCode(rawValue: result) ?? .EIO) }
        pid = started
    }

    /// Its exit status, or 128 + the signal that ended it.
    func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        return status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + (status & 0x7f)
    }
}

/// A folder that is gone with this value.
final class Scratch {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "nowplaying-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file and the folders that it is in.
    func write(_ name: String, _ text: String, executable: Bool = false) throws {
        let url = URL(fileURLWithPath: path + "/" + name)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
        if executable { try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: url.path) }
    }
}
