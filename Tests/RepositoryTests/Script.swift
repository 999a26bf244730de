import Foundation

/// One run of a script of the repository.
struct ScriptRun {
    /// The root of this checkout.
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    let status: Int32
    let output: [UInt8]
    let errors: String

    /// Standard output as text.
    var text: String { String(decoding: output, as: UTF8.self) }

    /// Runs a program to its end. Names without a slash are looked up in `environment["PATH"]` or this process's own.
    init(_ command: [String], environment: [String: String] = [:], in folder: Scratch) throws {
        let outputFile = folder.path + "/.output"
        let errorFile = folder.path + "/.errors"
        _ = FileManager.default.createFile(atPath: outputFile, contents: nil)
        _ = FileManager.default.createFile(atPath: errorFile, contents: nil)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = environment.map { "\($0.key)=\($0.value)" } + command
        process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle(forWritingAtPath: outputFile)
        process.standardError = FileHandle(forWritingAtPath: errorFile)
        try process.run()
        process.waitUntilExit()
        status = process.terminationStatus
        output = Array(try Data(contentsOf: URL(fileURLWithPath: outputFile)))
        errors = String(decoding: try Data(contentsOf: URL(fileURLWithPath: errorFile)), as: UTF8.self)
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
