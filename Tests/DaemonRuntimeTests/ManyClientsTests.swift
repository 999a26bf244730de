import ControlProtocol
import ControlServer
import DaemonRuntime
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

/// Crowds of clients; one crowd at a time, as all of them share the descriptors of the test process.
@Suite(.serialized) struct ManyClientsTests {
    @Test func aThousandAtOnce() async throws {
        let harness = try await ServerHarness()
        var clients: [RawClient] = []
        for _ in 0..<1000 {
            let client = try RawClient(harness.path)
            try client.request(1, "nowPlaying.get")
            clients.append(client)
        }
        for client in clients { #expect(try client.read()["result"]?["seq"] == 1) }
        let server = harness.server
        #expect(await LoopThread.run { server.clientCount } == 1000)
        clients = []
        #expect(await harness.until { server.clientCount == 0 })
        #expect(await LoopThread.run { server.unfinishedBytes } == 0)
        await harness.end()
    }

    @Test func twoThousandOneAfterTheOther() async throws {
        let harness = try await ServerHarness()
        let handler = harness.handler
        for turn in 0..<2000 {
            let client = try RawClient(harness.path)
            switch turn % 4 {
            case 0: try client.send("{\"half")
            case 1: try client.send("garbage\n\n[]\n")
            case 2: _ = try client.call("nowPlaying.subscribe")
            default: _ = try client.call("hello", ["client": .string("\(turn)")])
            }
        }
        let server = harness.server
        #expect(await harness.until { server.clientCount == 0 })
        #expect(await LoopThread.run { server.subscriberCount } == 0)
        #expect(await LoopThread.run { server.unfinishedBytes } == 0)
        #expect(await LoopThread.run { handler.gone.isEmpty })
        await harness.end()
    }

    @Test func garbageOfManyKinds() async throws {
        let harness = try await ServerHarness()
        var generator = SystemRandomNumberGenerator()
        let alphabet = Array("{}[]\",:0123456789\\un \n\r".utf8) + [0, 0x80, 0xff]
        let good = try RawClient(harness.path)
        for _ in 0..<300 {
            let client = try RawClient(harness.path)
            let bytes = (0..<2000).map { _ in alphabet.randomElement(using: &generator)! }
            try client.send(bytes)
            client.endSending()
            while let line = try? client.readLine() {
                let answer = try JSONReader.read(line)
                #expect((answer.arrayValue?.first ?? answer).errorCode != nil)
            }
            #expect(try good.call("hello")["result"] != nil)
        }
        await harness.end()
    }

    /// Each client takes two descriptors of this process.
    @Test(
        .enabled(
            if: DescriptorLimit.raise(to: 16384) > 2 * ControlServer.maximumClients + 1000,
            "the limit of open files is too low here"))
    func moreThanTheLimitAreTurnedAway() async throws {
        let harness = try await ServerHarness()
        var clients: [RawClient] = []
        for _ in 0..<ControlServer.maximumClients { clients.append(try RawClient(harness.path)) }
        let server = harness.server
        #expect(await harness.until { server.clientCount == ControlServer.maximumClients })
        let late = try RawClient(harness.path)
        let answer = try late.read()
        #expect(answer.errorCode == 200)
        #expect(answer["error"]?["data"]?["reason"] == "tooManyClients")
        clients.removeLast()
        #expect(await harness.until { server.clientCount == ControlServer.maximumClients - 1 })
        #expect(try RawClient(harness.path).call("hello")["result"] != nil)
        clients = []
        await harness.end()
    }
}
