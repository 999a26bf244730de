import Glibc

/// A run of the real nowplayingctl. Ends with its last reference, if it has not ended by itself.
final class Tool {
    /// Result of a run that has ended.
    struct Outcome {
        var status: Int32
        var output: String
        var complaint: String
    }

    private let child: ChildProgram

    /// Its process.
    var process: pid_t { child.process }
    private var output: [UInt8] = []
    private var complaint: [UInt8] = []

    /// The program beside the tests.
    static let program: String = {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        for candidate in [own] + CommandLine.arguments {
            guard let range = candidate.firstRange(of: "/debug/") ?? candidate.firstRange(of: "/release/") else {
                continue
            }
            let path = candidate[..<range.upperBound] + "nowplayingctl"
            if access(String(path), X_OK) == 0 { return String(path) }
        }
        preconditionFailure("nowplayingctl was not built beside the tests")
    }()

    /// Starts `nowplayingctl` with these arguments; `socket` goes into its environment. `terminal`: a pseudoterminal's
    /// name for its standard output, and with `hasKeys` for its standard input. `PROGRAM` in `environment` names another program.
    init(
        _ arguments: [String], socket: String?, environment: [String: String] = [:], terminal: String? = nil,
        hasKeys: Bool = false
    ) {
        var variables = ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "XDG_RUNTIME_DIR": "/nonexistent"]
        variables["NOWPLAYING_SOCKET"] = socket
        variables.merge(environment) { $1 }
        let program = environment["PROGRAM"] ?? Tool.program
        child = ChildProgram(
            [program] + arguments, environment: variables, outputPath: terminal,
            inputPath: hasKeys ? terminal ?? "/dev/null" : "/dev/null")
    }

    /// Sends it a signal.
    func signal(_ number: Int32) { kill(child.process, number) }

    /// Waits for the end.
    func outcome() -> Outcome {
        while ChildProgram.read(child.output, into: &output) {}
        while ChildProgram.read(child.complaint, into: &complaint) {}
        let status = child.wait()
        return Outcome(
            status: status, output: String(decoding: output, as: UTF8.self),
            complaint: String(decoding: complaint, as: UTF8.self))
    }

    /// The next line of its standard output; nil at its end.
    func line() -> String? {
        while true {
            if let end = output.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: output[..<end], as: UTF8.self)
                output.removeSubrange(...end)
                return line
            }
            guard ChildProgram.read(child.output, into: &output) else { return nil }
        }
    }

    /// Waits until it has complained of something that contains `text`.
    func complained(of text: String) -> Bool {
        while !String(decoding: complaint, as: UTF8.self).contains(text) {
            guard ChildProgram.read(child.complaint, into: &complaint) else { return false }
        }
        return true
    }

    /// Runs it to its end.
    static func run(_ arguments: [String], socket: String?, environment: [String: String] = [:]) -> Outcome {
        Tool(arguments, socket: socket, environment: environment).outcome()
    }
}
