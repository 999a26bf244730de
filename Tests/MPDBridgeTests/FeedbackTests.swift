import ControlProtocol
import Glibc
import TestSupport
import Testing

/// Ratings that other programs set at the daemon.
@Suite(.timeLimit(.minutes(5)), .serialized) struct FeedbackTests {
    private let folder = TemporaryFolder()

    @Test("a rating of any song that another program sets ends the wait for stickers, after a restart too")
    func ratings() async throws {
        let house = await MPDHouse.start(in: folder)
        let file = folder.silence("a.wav", seconds: 1)
        let client = try house.client()
        try rate(file, house, client)
        house.daemon.signal(SIGTERM)
        #expect(house.daemon.wait() == 0)
        let again = await LoopThread.run {
            MPDHouse.process(folder, "nowplayingd", ["--state-directory", folder.path("state"), "--output", "null"])
        }
        defer { again.end() }
        house.awaitDaemon()
        try rate(file, house, client)
    }

    /// Rates the file until the client is sent a change: the bridge may not follow the daemon yet.
    private func rate(_ file: String, _ house: MPDHouse, _ client: LineClient) throws {
        while client.isReadable { _ = try client.answer() }
        try client.send("idle sticker")
        let other = try house.daemonClient()
        var rating: Int64 = 0
        #expect(
            becomes {
                rating = rating % 5 + 1
                _ = try? other.result("feedback.set", ["uri": .string(file), "rating": .integer(rating)])
                return client.isReadable
            })
        #expect(try client.answer() == ["changed: sticker", "OK"])
    }
}
