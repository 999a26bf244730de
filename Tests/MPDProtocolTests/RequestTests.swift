import Testing

@testable import MPDProtocol

/// Lines as requests.
@Suite struct RequestTests {
    private static let everything: Permissions = [.read, .add, .player, .control, .admin]

    private func read(_ line: String, _ allowed: Permissions = everything) -> Result<MPDRequest, RequestFault> {
        Result { () throws(RequestFault) in
            try MPDRequest.read(Array(line.utf8), allowed: allowed, available: Set(MPDCommand.allCases))
        }
    }

    private func arguments(_ line: String) throws -> [String] { try read(line).get().arguments.map(\.text) }

    @Test(
        "arguments are words or quoted",
        arguments: [
            ("find artist A", ["artist", "A"]),
            ("find  artist \t A ", ["artist", "A"]),
            (#"find "artist" "A B""#, ["artist", "A B"]),
            (#"find "a\"b" "c\\d" "\e""#, [#"a"b"#, #"c\d"#, "e"]),
            (#"find "" x"#, ["", "x"]),
            (#"find a\b"#, [#"a\b"#]),
            ("find Ä Ö", ["Ä", "Ö"]),
            (#"find "(Artist == \"A\")""#, [#"(Artist == "A")"#]),
        ])
    func quotes(line: String, expected: [String]) throws { #expect(try arguments(line) == expected) }

    @Test(
        "faults have MPD's words",
        arguments: [
            ("", 5, "No command given", true), ("1x", 5, "Letter expected", true),
            ("a-b", 5, "Invalid word character", true), ("nope", 5, #"unknown command "nope""#, false),
            ("Status", 5, #"unknown command "Status""#, false),
            (#"find "a"#, 5, "Missing closing '\"'", false), (#"find "a\"#, 5, "Missing closing '\"'", false),
            (#"find "a"b"#, 5, "Space expected after closing '\"'", false),
            ("find a'b", 5, "Invalid unquoted character", false),
            (#"find a"b"#, 5, "Invalid unquoted character", false),
            ("status 1", 2, #"wrong number of arguments for "status""#, false),
            ("find", 2, #"too few arguments for "find""#, false),
            ("play 1 2", 2, #"too many arguments for "play""#, false),
            ("seek 1", 2, #"wrong number of arguments for "seek""#, false),
            ("find" + String(repeating: " x", count: MPDRequest.maximumArguments + 1), 2, "Too many arguments", false),
        ])
    func faults(line: String, code: Int, message: String, ends: Bool) {
        guard case .failure(let fault) = read(line) else { Issue.record("\(line) was read"); return }
        #expect(fault.failure.code.rawValue == code)
        #expect(fault.failure.message == message)
        #expect(fault.endsConnection == ends)
    }

    @Test(
        "requests that are one change of the queue",
        arguments: [
            ("add a", "add b", true), ("add a", "addid b", true), ("addid a 3", "addid b 4", true),
            ("add a 0", "add b 1", true), ("addid a 3", "addid b 3", false), ("addid a 3", "addid b", false),
            ("addid a", "addid b 0", false), ("addid a +0", "addid b +1", false), ("add a x", "add b y", false),
            ("delete 0", "delete 0", true), ("delete 1:2", "delete 5", true), ("deleteid 7", "deleteid 8", true),
            ("delete 0", "deleteid 8", false), ("add a", "delete 0", false), ("clear", "add a", false),
            ("play 0", "play 0", false),
        ])
    func joins(first: String, second: String, expected: Bool) throws {
        #expect(try read(second).get().joins(try read(first).get()) == expected)
    }

    @Test("each command needs its rights, and names itself", arguments: MPDCommand.allCases)
    func rights(command: MPDCommand) {
        let count = command.arity?.lowerBound ?? 0
        let line = ([command.rawValue] + Array(repeating: "0", count: count)).joined(separator: " ")
        #expect((try? read(line, command.permissions).get().command) == command)
        guard !command.permissions.isEmpty else { return }
        guard case .failure(let fault) = read(line, Self.everything.subtracting(command.permissions)) else {
            Issue.record("\(line) was read without rights")
            return
        }
        #expect(fault.failure == MPDFailure(.permission, "you don't have permission for \"\(command.rawValue)\""))
        #expect(fault.command == command)
    }

    @Test("a command that is not there is unknown") func unavailable() {
        let answer = Result { () throws(RequestFault) in
            try MPDRequest.read(Array("kill".utf8), allowed: Self.everything, available: [.status])
        }
        #expect(
            answer
                == .failure(
                    RequestFault(MPDFailure(.unknown, "unknown command \"kill\""), command: nil, endsConnection: false))
        )
    }

    @Test("random lines are read or refused, never more") func anyLine() {
        var random = SystemRandomNumberGenerator()
        let alphabet = Array("find \"\\'()=! \tab0:-+é\u{1}".utf8)
        for _ in 0..<20_000 {
            let line = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? 0
            }
            var conversation = Conversation()
            guard case .run(let work) = conversation.take(line) else { continue }
            for line in work.lines {
                guard
                    let request = try? MPDRequest.read(
                        line, allowed: Self.everything, available: Set(MPDCommand.allCases))
                else { continue }
                _ = try? FilterParser(foldsCase: true).filter(request.arguments)
            }
        }
    }
}
