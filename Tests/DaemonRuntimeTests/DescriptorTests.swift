import AudioCore
import CLinux
import ControlProtocol
import ControlServer
import DaemonRuntime
import Glibc
import LinuxSystem
import MediaAccess
import NowPlaying
import Sessions
import TestSupport
import Testing

/// Open files handed over with lines.
@Suite struct DescriptorTests {
    /// The files of the requests that the handler got, by inode; nil: not a descriptor.
    private static func inodes(_ harness: ServerHarness) async -> [UInt64?] {
        let handler = harness.handler
        return await LoopThread.run {
            handler.requests.flatMap(\.media).map { media in
                guard case .descriptor(let descriptor, _) = media.source else { return nil }
                var status = stat()
                fstat(descriptor.number, &status)
                return UInt64(status.st_ino)
            }
        }
    }

    private static func send(_ client: RawClient, _ text: String, _ paths: [String]) -> [UInt64] {
        let descriptors = paths.map { open($0, O_RDONLY) }
        let bytes = Array(text.utf8)
        #expect(linux_send(client.descriptor, bytes, bytes.count, descriptors, Int32(descriptors.count)) == bytes.count)
        return descriptors.map { descriptor in
            var status = stat()
            fstat(descriptor, &status)
            close(descriptor)
            return UInt64(status.st_ino)
        }
    }

    /// Number of times that this process has a file open.
    private static func timesOpen(_ path: String) -> Int {
        var count = 0
        guard let folder = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(folder) }
        var target = [CChar](repeating: 0, count: 4096)
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            let length = readlink("/proc/self/fd/" + name, &target, target.count)
            let open = String(decoding: target.prefix(max(0, length)).map(UInt8.init(bitPattern:)), as: UTF8.self)
            if open == path { count += 1 }
        }
        return count
    }

    @Test func theyBelongToTheLineThatTheyCameWith() async throws {
        let harness = try await ServerHarness()
        let a = harness.folder.file("a")
        let b = harness.folder.file("b")
        let client = try RawClient(harness.path)
        func line(_ id: Int, _ place: Int) -> String {
            #"{"jsonrpc":"2.0","id":\#(id),"method":"queue.add","params":{"items":[{"descriptor":\#(place)}]}}"# + "\n"
        }
        // Bytes without descriptors before, in the same turn of the loop.
        try client.send(String(repeating: #"{"jsonrpc":"2.0","id":0,"method":"hello"}"# + "\n", count: 20))
        let first = Self.send(client, line(1, 1), [a, b])
        try client.send(String(repeating: #"{"jsonrpc":"2.0","id":0,"method":"hello"}"# + "\n", count: 20))
        let second = Self.send(client, line(2, 0), [b])
        try client.send(line(3, 0))
        var codes: [Int64: Int64?] = [:]
        while codes.count < 4 {
            let answer = try client.read()
            codes[answer["id"]?.integerValue ?? -1] = .some(answer.errorCode)
        }
        #expect(codes[1] == .some(nil))
        #expect(codes[2] == .some(nil))
        #expect(codes[3] == .some(-32602))
        #expect(await Self.inodes(harness) == [first[1], second[0]])
        await harness.end()
    }

    @Test func aLineMayComeInPieces() async throws {
        let harness = try await ServerHarness()
        let a = harness.folder.file("a")
        let client = try RawClient(harness.path)
        let line = #"{"jsonrpc":"2.0","id":1,"method":"play","params":{"descriptor":0,"uri":"x"}}"# + "\n"
        try client.send(#"{"jsonrpc":"2.0","id":0,"method":"hello"}"# + "\n")
        let sent = Self.send(client, String(line.prefix(20)), [a])
        #expect(try client.read()["id"] == 0)
        try client.send(String(line.dropFirst(20)))
        #expect(try client.read()["error"] == nil)
        #expect(await Self.inodes(harness) == sent)
        await harness.end()
    }

    @Test func whatTheLineDoesNotNameIsClosed() async throws {
        let harness = try await ServerHarness()
        let handler = harness.handler
        let a = harness.folder.file("a")
        let client = try RawClient(harness.path)
        func openFiles() -> Int { Self.timesOpen(a) }
        for _ in 0..<50 {
            _ = Self.send(client, #"{"jsonrpc":"2.0","id":1,"method":"hello"}"# + "\n", Array(repeating: a, count: 16))
            _ = try client.read()
            _ = Self.send(
                client, #"{"jsonrpc":"2.0","id":1,"method":"play","params":{"descriptor":3}}"# + "\n",
                Array(repeating: a, count: 16))
            _ = try client.read()
        }
        #expect(openFiles() == 50)
        await LoopThread.run { handler.requests = [] }
        #expect(openFiles() == 0)
        // And those of a line that never ends.
        _ = Self.send(client, "{", [a, a])
        _ = try RawClient(harness.path).call("hello")
        client.endSending()
        #expect(try client.isClosedByServer())
        let server = harness.server
        #expect(await harness.until { server.clientCount == 0 })
        #expect(openFiles() == 0)
        await harness.end()
    }

    @Test func whatIsToBeHandedOutIsClosedWithTheConnection() async throws {
        let harness = try await ServerHarness()
        let handler = harness.handler
        let a = harness.folder.file("a")
        let long = JSONValue.string(String(repeating: "x", count: 100_000))
        await LoopThread.run {
            handler.result = { request in
                request.method == .command(.play)
                    ? nil : .withDescriptor(long, OwnedDescriptor(open(a, O_RDONLY | O_CLOEXEC)))
            }
        }
        let client = try RawClient(harness.path)
        // One request waits for its answer beyond the end of the connection.
        try client.request(1, "play")
        for number in 2...9 { try client.request(number, "queue.list") }
        #expect(await harness.until { handler.requests.count == 9 })
        #expect(Self.timesOpen(a) > 0)
        await harness.end()
        let held = await LoopThread.run { handler.held.count }
        #expect(held == 1)
        #expect(Self.timesOpen(a) == 0)
    }
}
