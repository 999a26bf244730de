import CLinux
import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import SnapcastBridge

/// The pipes between a server and its control script.
@Suite(.timeLimit(.minutes(8))) struct LineTests {
    init() { LoopThread.start() }

    /// Two ends of a pipe: to read from, to write to.
    private static func pipe() -> (OwnedDescriptor, OwnedDescriptor) {
        var ends: [Int32] = [-1, -1]
        precondition(linux_pipe(&ends) == 0)
        return (OwnedDescriptor(ends[0]), OwnedDescriptor(ends[1]))
    }

    private static func write(_ text: [UInt8], _ descriptor: OwnedDescriptor) {
        #expect(Glibc.write(descriptor.number, text, text.count) == text.count)
    }

    @Test("lines arrive whole in whatever parts they come; one that is too long is skipped") @PlayerLoop
    func lines() async {
        let (input, server) = Self.pipe()
        let (reader, output) = Self.pipe()
        var lines: [String] = []
        var hasEnded = false
        let channel = PluginLines(
            .current, input: input.number, output: output.number,
            onLine: { lines.append(String(decoding: $0, as: UTF8.self)) },
            onEnd: { hasEnded = true })
        #expect(channel != nil)
        for part in ["one\ntw", "o\n\n", "thr", "ee\n"] {
            Self.write(Array(part.utf8), server)
            await LoopThread.turns(3)
        }
        #expect(lines == ["one", "two", "three"])
        for _ in 0..<20 {
            Self.write([UInt8](repeating: UInt8(ascii: "x"), count: 8000), server)
            await LoopThread.turns(3)
        }
        Self.write(Array("\nfour\n".utf8), server)
        await LoopThread.turns(3)
        #expect(lines == ["one", "two", "three", "four"])
        #expect(!hasEnded)
        withExtendedLifetime(reader) {}
    }

    @Test("the end of the server is noticed") @PlayerLoop func end() async {
        let input: OwnedDescriptor
        var server: OwnedDescriptor?
        do {
            let ends = Self.pipe()
            input = ends.0
            server = ends.1
        }
        let (reader, output) = Self.pipe()
        var hasEnded = false
        let channel = PluginLines(
            .current, input: input.number, output: output.number, onLine: { _ in }, onEnd: { hasEnded = true })
        #expect(server != nil)
        server = nil
        await LoopThread.turns(3)
        #expect(hasEnded)
        withExtendedLifetime((channel, reader)) {}
    }

    @Test("a server that does not read blocks nothing, and gets all lines when it reads") @PlayerLoop
    func slowServer() async {
        let (input, server) = Self.pipe()
        let (reader, output) = Self.pipe()
        let channel = PluginLines(.current, input: input.number, output: output.number, onLine: { _ in }, onEnd: {})
        var drains = 0
        channel?.onDrain = { drains += 1 }
        let line = [UInt8](repeating: UInt8(ascii: "y"), count: 10_000)
        for _ in 0..<20 { channel?.send(line) }
        #expect(channel?.isBlocked == true)
        var got: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        _ = fcntl(reader.number, F_SETFL, O_NONBLOCK)
        while got.count < 20 * 10_001 {
            got += buffer[..<max(0, read(reader.number, &buffer, buffer.count))]
            await LoopThread.turns(3)
        }
        #expect(got == Array(repeating: line + [UInt8(ascii: "\n")], count: 20).flatMap { $0 })
        #expect(channel?.isBlocked == false && drains == 1)
        withExtendedLifetime(server) {}
    }

    @Test("a file is no pipe of a server") @PlayerLoop func file() {
        let null = OwnedDescriptor(open("/dev/null", O_RDWR | O_CLOEXEC))
        #expect(
            PluginLines(.current, input: null.number, output: null.number, onLine: { _ in }, onEnd: {}) == nil)
    }
}
