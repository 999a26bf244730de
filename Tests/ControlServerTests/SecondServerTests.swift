import CLinux
import ControlProtocol
import ControlServer
import Glibc
import LinuxSystem
import TestSupport
import Testing

/// A server of another program: its own catalogue and handler, the same roles, limits, batches and subscriptions.
@Suite(.timeLimit(.minutes(8))) struct SecondServerTests {
    @Test func itHasItsOwnCatalogue() async throws {
        let house = try await CounterServer()
        let client = try RawClient(house.path)
        #expect(try client.call("hello")["result"] == ["server": "counterd", "role": "admin"])
        let document = try client.call("rpc.discover")["result"]
        #expect(document?["info"]?["title"] == "counterd" && document?["info"]?["version"] == "7")
        let names = document?["methods"]?.arrayValue?.compactMap { $0["name"]?.stringValue }
        #expect(names == CounterCatalogue.table.methods.map(\.name))
        #expect(document?["x-notifications"]?.arrayValue?.map { $0["name"] } == ["count.changed"])
        let unknown = try client.call("play")
        #expect(unknown.errorCode == -32601)
        #expect(try client.call("count.gte")["error"]?["data"]?["nearest"] == "count.get")
        #expect(try client.call("count.add", ["by": 0]).errorCode == -32602)
        #expect(try client.call("count.add", ["by": 3])["result"] == ["count": 3])
        await house.end()
    }

    @Test func rolesBindItsMethods() async throws {
        let house = try await CounterServer()
        let client = try RawClient(house.path)
        #expect(try client.call("count.add", ["by": 60])["result"] == ["count": 60])
        #expect(try client.call("hello", ["client": "guest", "role": "control"])["result"]?["role"] == "control")
        #expect(try client.call("count.add", ["by": 50])["result"] == ["count": 110])
        // The handler asks for more than the catalogue where the parameters are large.
        #expect(try client.call("count.add", ["by": 51]).errorCode == 403)
        #expect(try client.call("count.reset").errorCode == 403)
        _ = try client.call("hello", ["role": "read"])
        #expect(try client.call("count.add", ["by": 1]).errorCode == 403)
        #expect(try client.call("count.get")["result"] == ["count": 110])
        let counter = house.counter
        client.endSending()
        #expect(await house.until { counter.gone == ["guest"] })
        await house.end()
    }

    @Test func aBatchIsOneLine() async throws {
        let house = try await CounterServer()
        let client = try RawClient(house.path)
        try client.send(
            """
            [{"jsonrpc":"2.0","id":1,"method":"count.add","params":{"by":2}},\
            {"jsonrpc":"2.0","method":"count.add","params":{"by":3}},\
            {"jsonrpc":"2.0","id":2,"method":"count.watch"},\
            {"jsonrpc":"2.0","id":3,"method":"hello","params":{"role":"read"}},\
            {"jsonrpc":"2.0","id":4,"method":"count.add","params":{"by":1}},\
            {"jsonrpc":"2.0","id":5,"method":"count.get"}]

            """)
        let answers = try #require(try client.read().arrayValue)
        #expect(answers.map { $0["id"] } == ([1, 2, 3, 4, 5] as [JSONValue]))
        #expect(answers.map(\.errorCode) == [nil, -32600, nil, 403, nil])
        #expect(answers.last?["result"] == ["count": 5])
        await house.end()
    }

    @Test func limitsHold() async throws {
        let house = try await CounterServer()
        let step = #"{"jsonrpc":"2.0","id":1,"method":"count.get"}"#
        let client = try RawClient(house.path)
        try client.send("[" + Array(repeating: step, count: 1001).joined(separator: ",") + "]\n")
        #expect(try client.read().errorCode == -32600)
        #expect(try client.call("count.get")["result"] == ["count": 0])
        try client.send([UInt8](repeating: UInt8(ascii: "x"), count: 300 << 10))
        #expect(try client.read().errorCode == -32600)
        #expect(try client.isClosedByServer())
        #expect(try RawClient(house.path).call("count.get")["result"] == ["count": 0])
        await house.end()
    }

    @Test func whoWatchesGetsTheKindsThatItAskedFor() async throws {
        let house = try await CounterServer()
        let (all, some) = (try RawClient(house.path), try RawClient(house.path))
        _ = try all.call("count.watch")
        _ = try some.call("count.watch", ["kinds": ["reset"]])
        let actor = try RawClient(house.path)
        _ = try actor.call("count.add", ["by": 4])
        _ = try actor.call("count.reset")
        #expect(try all.read()["params"] == ["kind": "add", "count": 4])
        #expect(try all.read()["params"] == ["kind": "reset", "count": 0])
        #expect(try some.read()["params"] == ["kind": "reset", "count": 0])
        await house.end()
    }

    @Test func aClientThatDoesNotReadGetsTheNewest() async throws {
        let house = try await CounterServer()
        let (sleeper, reader) = (try RawClient(house.path), try RawClient(house.path))
        _ = try sleeper.call("count.watch")
        let counter = house.counter
        // More than any socket buffer holds; others are served meanwhile.
        let last = 60_000
        for first in stride(from: 1, through: last, by: 50) {
            await LoopThread.run {
                for count in first..<first + 50 { counter.change(to: count, count == last ? "reset" : "add") }
            }
        }
        #expect(try reader.call("count.get")["result"] == ["count": .integer(Int64(last))])
        var (count, merged) = (0, 0)
        while count < last {
            let event = try sleeper.read()["params"]
            let next = Int(try #require(event?["count"]?.integerValue))
            #expect(next > count)
            count = next
            if let causes = event?["causes"] {
                merged += 1
                #expect(causes == ["add", "reset"])
            }
        }
        #expect(merged == 1)
        await house.end()
    }

    @Test func aTopicIsFollowedBesideASubscription() async throws {
        let house = try await CounterServer()
        let (both, marks, counts) = (
            try RawClient(house.path), try RawClient(house.path), try RawClient(house.path)
        )
        for client in [both, counts] { _ = try client.call("count.watch") }
        for client in [both, marks] { _ = try client.call("count.follow", ["followed": true]) }
        let counter = house.counter
        await LoopThread.run {
            counter.change(to: 1, "add")
            counter.mark(7)
            counter.change(to: 2, "add")
        }
        let (one, two): (JSONValue, JSONValue) = (["kind": "add", "count": 1], ["kind": "add", "count": 2])
        for expected in [one, ["mark": 7], two] { #expect(try both.read()["params"] == expected) }
        for expected in [one, two] { #expect(try counts.read()["params"] == expected) }
        #expect(try marks.read()["params"] == ["mark": 7])
        _ = try marks.call("count.follow", ["followed": false])
        await LoopThread.run { counter.mark(8) }
        #expect(try both.read()["params"] == ["mark": 8])
        // The next line is the answer.
        #expect(try marks.call("count.get")["result"] == ["count": 2])
        await house.end()
    }

    @Test func aClientThatDoesNotReadGetsTheNewestOfATopic() async throws {
        let house = try await CounterServer()
        let sleeper = try RawClient(house.path)
        _ = try sleeper.call("count.watch")
        _ = try sleeper.call("count.follow", ["followed": true])
        let counter = house.counter
        let last = 30_000
        for first in stride(from: 1, through: last, by: 25) {
            await LoopThread.run {
                for number in first..<first + 25 {
                    counter.change(to: number, "add")
                    counter.mark(number)
                }
            }
        }
        var (count, mark) = (0, 0)
        while count < last || mark < last {
            let event = try #require(try sleeper.read()["params"])
            #expect(event["causes"] == nil)
            let next = (event["count"]?.integerValue).map { Int($0) }
            let nextMark = (event["mark"]?.integerValue).map { Int($0) }
            #expect(next ?? Int.max > count && nextMark ?? Int.max > mark)
            (count, mark) = (next ?? count, nextMark ?? mark)
        }
        await house.end()
    }

    @Test func filesComeWithLines() async throws {
        let house = try await CounterServer()
        let file = open(house.folder.file("a", String(repeating: "0", count: 17)), O_RDONLY)
        defer { close(file) }
        let client = try RawClient(house.path)
        let line = #"{"jsonrpc":"2.0","id":1,"method":"count.addFile","params":{"descriptor":0}}"# + "\n"
        let bytes = Array(line.utf8)
        #expect(linux_send(client.descriptor, bytes, bytes.count, [file], 1) == bytes.count)
        // The next request waits until the first is prepared.
        try client.request(2, "count.get")
        #expect(try client.read() == ["jsonrpc": "2.0", "id": 1, "result": ["count": 17]])
        #expect(try client.read()["result"] == ["count": 17])
        try client.send(line)
        #expect(try client.read().errorCode == -32602)
        await house.end()
    }
}
