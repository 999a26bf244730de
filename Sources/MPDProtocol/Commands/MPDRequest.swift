/// A request whose command exists, is permitted and has a valid number of arguments.
package struct MPDRequest: Equatable, Sendable {
    package let command: MPDCommand
    package let arguments: [Argument]

    /// Maximum arguments of a line.
    package static let maximumArguments = 2 + 2 * MPDTag.allCases.count

    /// A request, by its parts.
    package init(_ command: MPDCommand, _ arguments: [Argument] = []) {
        self.command = command
        self.arguments = arguments
    }

    /// Reads a line without its line end.
    package static func read(
        _ line: [UInt8], allowed: Permissions, available: Set<MPDCommand>
    ) throws(RequestFault) -> MPDRequest {
        var tokenizer = LineTokenizer(line)
        let word: [UInt8]
        do throws(MPDFailure) {
            guard let found = try tokenizer.word() else { throw MPDFailure(.unknown, "No command given") }
            word = found
        } catch {
            throw RequestFault(error, command: nil, endsConnection: true)
        }
        var arguments: [Argument] = []
        do throws(MPDFailure) {
            while let argument = try tokenizer.argument() {
                guard arguments.count < maximumArguments else { throw MPDFailure(.argument, "Too many arguments") }
                arguments.append(argument)
            }
        } catch {
            throw RequestFault(error, command: nil, endsConnection: false)
        }
        let name = String(decoding: word, as: UTF8.self)
        guard let command = MPDCommand.byWord[name], available.contains(command) else {
            throw RequestFault(
                MPDFailure(.unknown, "unknown command \"\(name)\""), command: nil, endsConnection: false)
        }
        do throws(MPDFailure) {
            try check(command, arguments.count, allowed)
        } catch {
            throw RequestFault(error, command: command, endsConnection: false)
        }
        return MPDRequest(command, arguments)
    }

    private static func check(_ command: MPDCommand, _ count: Int, _ allowed: Permissions) throws(MPDFailure) {
        let name = command.rawValue
        guard allowed.isSuperset(of: command.permissions) else {
            throw MPDFailure(.permission, "you don't have permission for \"\(name)\"")
        }
        guard let arity = command.arity, !arity.contains(count) else { return }
        let fault = arity.count == 1 ? "wrong number of" : count < arity.lowerBound ? "too few" : "too many"
        throw MPDFailure(.argument, "\(fault) arguments for \"\(name)\"")
    }
}

/// The fault of a line that is not a valid request.
package struct RequestFault: Error, Equatable, Sendable {
    package let failure: MPDFailure
    /// Command of the line, if the fault is in its arguments.
    package let command: MPDCommand?
    /// True if the client speaks another protocol: its connection then ends after the answer.
    package let endsConnection: Bool

    /// A fault, by its parts.
    init(_ failure: MPDFailure, command: MPDCommand?, endsConnection: Bool) {
        self.failure = failure
        self.command = command
        self.endsConnection = endsConnection
    }
}
