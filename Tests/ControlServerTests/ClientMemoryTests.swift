import CLinux
import ControlProtocol
import ControlServer
import Glibc
import LinuxSystem
import TestSupport
import Testing

/// Memory and files that clients make a server hold: bounds for each client, for each user, and for all foreign users.
@Suite(.serialized, .timeLimit(.minutes(8))) struct ClientMemoryTests {
    /// A client with the rights of a foreign user.
    private func foreigner(_ house: CounterServer) throws -> RawClient {
        let client = try RawClient(house.path)
        _ = try client.call("hello", ["role": "control"])
        return client
    }

    /// Asks for long answers and does not read them.
    private func ask(_ client: RawClient, _ count: Int) throws {
        for id in 1...count { try client.request(id, "count.text", ["bytes": 200_000]) }
    }

    /// True if the server has closed the connection: nothing is read.
    private func isClosed(_ client: RawClient) -> Bool {
        let ended = Int16(EPOLLRDHUP.rawValue | EPOLLHUP.rawValue)
        var poll = pollfd(fd: client.descriptor, events: ended, revents: 0)
        return Glibc.poll(&poll, 1, 0) == 1 && poll.revents & ended != 0
    }

    @Test("slow clients of a user lose themselves alone, and the memory stays below its bound")
    func slowClients() async throws {
        let house = try await CounterServer()
        let (server, owner) = (house.server, try RawClient(house.path))
        let reader = try foreigner(house)
        var slow: [RawClient] = []
        for number in 0..<100 {
            let client = try foreigner(house)
            try ask(client, 8)
            slow.append(client)
            guard number % 5 == 0 else { continue }
            // One that reads keeps its connection, though it gets the most of all.
            try ask(reader, 20)
            for _ in 0..<20 { #expect(try reader.read()["result"]?["text"]?.stringValue?.utf8.count == 200_000) }
            #expect(try owner.call("count.get")["result"] == ["count": 0])
        }
        #expect(await house.until { server.memory.bytesOfLargest <= ClientMemory.mostOfForeigner })
        #expect(await LoopThread.run { server.memory.bytesOfForeigners } <= ClientMemory.mostOfForeigner)
        #expect(await LoopThread.run { server.memory.bytesOfLargest } > ClientMemory.mostOfForeigner / 2)
        let closed = slow.filter(isClosed)
        #expect(closed.count > 40 && closed.count < 90, "\(closed.count)")
        // Those that began first were slow for longest.
        #expect(slow.prefix(closed.count).allSatisfy(isClosed))
        #expect(!isClosed(reader) && !isClosed(owner))
        slow = []
        #expect(await house.until { server.memory.bytesOfForeigners == 0 })
        await house.end()
    }

    @Test("the owner's clients have a bound of their own, which foreign users cannot use up")
    func owner() async throws {
        let house = try await CounterServer()
        let server = house.server
        var slow: [RawClient] = []
        for _ in 0..<80 {
            let (foreign, own) = (try foreigner(house), try RawClient(house.path))
            try ask(foreign, 8)
            try ask(own, 8)
            slow += [foreign, own]
        }
        #expect(
            await house.until {
                server.memory.bytesOfOwner <= ClientMemory.mostOfOwner
                    && server.memory.bytesOfForeigners <= ClientMemory.mostOfForeigner
            })
        let closed = slow.indices.filter { isClosed(slow[$0]) }
        let (foreign, own) = (closed.count { $0 % 2 == 0 }, closed.count { $0 % 2 == 1 })
        #expect(foreign > 30 && own > 5 && own < 40, "\(foreign) foreign ones, \(own) own")
        #expect(await LoopThread.run { server.memory.bytesOfOwner } > ClientMemory.mostOfOwner / 2)
        await house.end()
    }

    @Test("requests without an answer are charged, too, and stop the reading of their client")
    func lateRequests() async throws {
        let house = try await CounterServer()
        let (server, counter) = (house.server, house.counter)
        let client = try foreigner(house)
        let texts = JSONValue.array(Array(repeating: .string(String(repeating: "y", count: 20)), count: 8000))
        let line =
            JSONWriter.text(["jsonrpc": "2.0", "id": 1, "method": "count.late", "params": ["texts": texts]]) + "\n"
        // More than the server takes: it stops reading, and so the kernel takes no more.
        let lines = Array(repeating: Array(line.utf8), count: 40).flatMap { $0 }
        var sent = 0
        while sent < lines.count {
            let count = lines[sent...].withUnsafeBytes { UnixSocket.send(client.descriptor, $0) }
            sent += max(0, count)
            var poll = pollfd(fd: client.descriptor, events: Int16(POLLOUT), revents: 0)
            guard count > 0 || Glibc.poll(&poll, 1, 3000) == 1 else { break }
        }
        #expect(sent < lines.count)
        #expect(await house.until { counter.late.count >= 3 })
        await LoopThread.turns(20)
        let (count, bytes) = await LoopThread.run { (counter.late.count, server.memory.bytesOfForeigners) }
        #expect(count <= 5 && bytes > 2 << 20 && bytes < 8 << 20, "\(count) requests, \(bytes) bytes")
        await LoopThread.run { counter.answerLate() }
        #expect(try client.read()["result"] == ["count": 0])
        await house.end()
    }

    @Test("files that a user hands over are counted until they are closed, wherever they are")
    func files() async throws {
        let house = try await CounterServer()
        let counter = house.counter
        let file = open("/dev/null", O_RDONLY)
        defer { close(file) }
        let client = try foreigner(house)
        let line = Array(
            (#"{"jsonrpc":"2.0","id":1,"method":"count.keepFiles","params":{"descriptor":0}}"# + "\n").utf8)
        let files = [Int32](repeating: file, count: 16)
        func hand(_ client: RawClient) throws -> JSONValue? {
            #expect(linux_send(client.descriptor, line, line.count, files, 16) == line.count)
            return try client.read()["result"]?["count"]
        }
        // An eighth of the descriptors of the process, and no more than 1,024.
        let most = min(1024, DescriptorLimit.raise(to: 4096) / 8) / 16
        for number in 1...most + 8 { #expect(try hand(client) == (number <= most ? 16 : 0), "\(number)") }
        #expect(await LoopThread.run { counter.kept.count } == 16 * most)
        // The owner has others.
        #expect(try hand(try RawClient(house.path)) == 16)
        await LoopThread.run { counter.closeFiles() }
        #expect(try hand(client) == 16)
        await LoopThread.run { counter.closeFiles() }
        await house.end()
    }
}
