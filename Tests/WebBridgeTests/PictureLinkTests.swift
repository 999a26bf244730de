import ControlProtocol
import Glibc
import TestSupport
import Testing

/// Addresses of single pictures that need no token.
@Suite(.timeLimit(.minutes(5)), .serialized) struct PictureLinkTests {
    /// A PNG of one pixel.
    private static let pixel = """
        89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000a49444154789c6360000000020001e5\
        27d4a20000000049454e44ae426082
        """

    private static var picture: [UInt8] {
        var rest = pixel[...]
        var bytes: [UInt8] = []
        while let byte = UInt8(rest.prefix(2), radix: 16), rest.count > 1 {
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    /// Plays an item with a picture, and returns the id of that.
    private func play(_ house: WebHouse) throws -> String {
        _ = house.folder.folder("album")
        _ = house.folder.write(Self.picture, "album/cover.png")
        let song = house.folder.silence("album/song.wav")
        let daemon = try house.daemonClient()
        _ = try daemon.call("queue.add", ["items": [.string(song)], "play": true])
        var id: String?
        let isThere = becomes {
            let state = try? daemon.call("nowPlaying.get")["result"]
            id = state?["item"]?["artwork"]?.arrayValue?.first?["id"]?.stringValue
            return id != nil
        }
        #expect(isThere)
        return id ?? ""
    }

    private func link(_ house: WebHouse, _ id: String) throws -> JSONValue {
        let request =
            #"{"jsonrpc":"2.0","id":1,"method":"artwork.link","params":{"id":"\#(id)","size":600}}"#
        return try JSONReader.read(house.client().post(request).body)
    }

    /// Status of the answer to a user of this machine without any right.
    private func status(_ house: WebHouse, _ target: String) -> String {
        let words = [
            "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "curl", "--silent", "--output",
            "/dev/null", "--write-out", "%{http_code}", "http://127.0.0.1:\(house.port)\(target)",
        ]
        return TestProcess.run(words, environment: currentEnvironment()).text
    }

    @Test(
        "an address of a picture serves this picture in this size to strangers, and nothing else",
        .enabled(if: geteuid() == 0, "only root can become other users"))
    func strangers() async throws {
        let house = await WebHouse.start("bind = 0.0.0.0:0\naddress = box.example:8088\n")
        let id = try play(house)
        let result = try #require(try link(house, id)["result"])
        let address = try #require(result["address"]?.stringValue)
        let prefix = "http://box.example:8088"
        #expect(address.hasPrefix(prefix + "/artwork/\(id).jpg?size=600&until="), "\(address)")
        let hours = ((result["until"]?.doubleValue ?? 0) - Double(time(nil))) / 3600
        #expect(hours > 24 && hours <= 25, "\(hours)")
        let target = String(address.dropFirst(prefix.count))
        #expect(status(house, target) == "200")
        #expect(status(house, "/artwork/\(id).jpg?size=600") == "401")
        for changed in [
            target.replacing("size=600", with: "size=601"), target.replacing("size=600&", with: ""),
            target.replacing("until=", with: "until=1"), target.replacing("\(id).jpg", with: "0\(id.dropFirst()).jpg"),
            target + "0", String(target.dropLast()), target + "&kind=preview", target.replacing("key=", with: "kex="),
        ] where changed != target {
            #expect(status(house, changed) == "401", "\(changed)")
        }
        // It opens no other door.
        let query = target.drop { $0 != "?" }
        #expect(status(house, "/events" + query) == "401")
        #expect(status(house, "/rpc" + query) != "200")
    }

    @Test("without a way for other machines there is no address") func none() async throws {
        let house = await WebHouse.start()
        let id = try play(house)
        #expect(try link(house, id)["error"]?["message"]?.stringValue?.contains("bind") == true)
        for wrong in ["", "a/b", "a b"] { #expect(try link(house, wrong)["error"] != nil) }
    }
}
