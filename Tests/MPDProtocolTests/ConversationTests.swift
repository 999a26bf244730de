import Testing

@testable import MPDProtocol

/// The order of lines on a connection.
@Suite struct ConversationTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private func steps(_ lines: [String], _ conversation: inout Conversation) -> [Conversation.Step] {
        lines.map { conversation.take(bytes($0)) }
    }

    private func run(_ lines: [String], _ kind: Conversation.Work.Kind) -> Conversation.Step {
        .run(Conversation.Work(LineList(lines.map(bytes)), kind))
    }

    @Test("a line alone is carried out, without white space at its end") func single() {
        var conversation = Conversation()
        #expect(
            steps(["status", "status \t\r"], &conversation) == [run(["status"], .single), run(["status"], .single)])
        #expect(conversation.take(bytes("play 1") + [0, 0x41]) == run(["play 1"], .single))
    }

    @Test("a list is carried out as a whole") func list() {
        for (begin, kind) in [
            ("command_list_begin", Conversation.Work.Kind.list), ("command_list_ok_begin", .listWithOKs),
        ] {
            var conversation = Conversation()
            let lines = [begin, "status", "command_list_begin", "currentsong", "command_list_end", "ping"]
            #expect(
                steps(lines, &conversation) == [
                    .nothing, .nothing, .nothing, .nothing,
                    run(["status", "command_list_begin", "currentsong"], kind), run(["ping"], .single),
                ])
        }
    }

    @Test(
        "a line of another protocol ends the connection",
        arguments: ["", " ", "GET / HTTP/1.1", "\u{16}\u{3}", "1", "Ä"])
    func otherProtocol(line: String) {
        var conversation = Conversation()
        #expect(conversation.take(bytes(line)) == .close)
        #expect(conversation.take(bytes("command_list_begin")) == .nothing)
        #expect(conversation.take(bytes(line)) == .close)
    }

    @Test("only noidle ends a wait; outside of one it has no answer") func idle() {
        var conversation = Conversation()
        #expect(conversation.take(bytes("noidle")) == .nothing)
        #expect(conversation.take(bytes("idle player")) == run(["idle player"], .single))
        conversation.beginIdle()
        #expect(conversation.isIdle)
        #expect(conversation.take(bytes("noidle")) == .endIdle)
        #expect(!conversation.isIdle)
        conversation.beginIdle()
        #expect(conversation.take(bytes("status")) == .close)
        conversation.endIdle()
        #expect(conversation.take(bytes("noidle")) == .nothing)
    }

    @Test("a wait in a list ends the connection", arguments: ["idle", "noidle"]) func idleInList(line: String) {
        var conversation = Conversation()
        #expect(steps(["command_list_begin", line], &conversation) == [.nothing, .close])
    }

    @Test(
        "a list has limits of bytes and of lines, which depend on the rights",
        arguments: [
            (LineLimits.known, 16_000), (.known, 1), (.stranger, 1000), (.stranger, 1),
        ])
    func listLimits(_ limits: LineLimits, _ length: Int) {
        var conversation = Conversation()
        _ = conversation.take(bytes("command_list_begin"), limits)
        let line = [UInt8](repeating: UInt8(ascii: "x"), count: length)
        let most = min(limits.listLines, limits.list / (length + 1))
        for _ in 0..<most { #expect(conversation.take(line, limits) == .nothing) }
        // A line costs its bytes and its end, and the memory grows by doubling.
        #expect(conversation.cost <= 2 * most * (length + 1) + 64)
        #expect(conversation.take(line, limits) == .refuse(Conversation.tooLong))
        #expect(conversation.cost == 0)
        #expect(conversation.take(line, limits) == run([String(repeating: "x", count: length)], .single))
    }

    @Test("a list of lines gives them back") func lines() {
        let texts = ["a", "bc", "", "d\u{1}", String(repeating: "x", count: 1000)]
        for count in 0...texts.count {
            let lines = LineList(texts.prefix(count).map(bytes))
            #expect(lines.map { String(decoding: $0, as: UTF8.self) } == Array(texts.prefix(count)))
            #expect(lines.count == count && lines.isEmpty == (count == 0))
            guard count > 1 else { continue }
            let rest = lines[lines.index(after: lines.startIndex)...]
            #expect(rest.map { String(decoding: $0, as: UTF8.self) } == Array(texts[1..<count]))
        }
    }

    @Test("lines of a buffer are the same, however the bytes are divided") func buffer() {
        let text = Array("status\n\nping x\n\r\nlast".utf8)
        let lines = ["status", "", "ping x", "\r"]
        for size in 1...text.count {
            var buffer = LineBuffer()
            var found: [String] = []
            for start in stride(from: 0, to: text.count, by: size) {
                buffer.append(text[start..<min(text.count, start + size)])
                while buffer.hasLine, let line = buffer.next() { found.append(String(decoding: line, as: UTF8.self)) }
            }
            #expect(found == lines && buffer.next() == nil && buffer.count == 4, "\(size)")
        }
    }
}
